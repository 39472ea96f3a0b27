// Package seal seals what a client keeps for its server: the names of sessions, and states of calls. Clients can neither
// read nor change it. A sealed name is no credential: whoever sends one says who it is by other means.
package seal
