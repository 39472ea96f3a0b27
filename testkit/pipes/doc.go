// Package pipes is an in-memory network with one server, for tests in a bubble of virtual time: time passes only
// while both sides of its connections wait.
package pipes
