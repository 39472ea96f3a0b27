// Package seal seals what a client keeps for its server: the names of sessions, and states of calls. Clients can neither
// read nor change it. Rows keep what changes later.
package seal
