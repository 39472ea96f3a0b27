// Package pipes is a network of one server in memory, for tests in a bubble of virtual time: time passes only while both
// sides of its connections wait.
package pipes
