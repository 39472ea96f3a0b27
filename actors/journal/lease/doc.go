// Package lease is for journals whose nodes are all in one process. [Runs] lends the journal's runs to the nodes, and
// [Notes] tells those who watch. Neither is durable: when the process has gone, all its claims have gone too.
package lease
