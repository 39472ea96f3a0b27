// Package lease implements claims and notes for journals whose nodes are all in one process. [Runs] lends the
// journal's runs to the nodes, and [Notes] passes notes to watchers. Neither is durable: when the process is gone,
// its claims are gone too.
package lease
