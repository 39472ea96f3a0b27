// Package proof writes the log of a run so that it can be checked anywhere: [Write] signs it, and [Read] checks it.
//
// A proof is lines of JSON. The first names the form and the run. Then each block of the log is a line of its own, with
// the chain's hash before it and its digest, and the events that it holds follow it, as they are kept. The last line says
// where the log stands, and signs every byte before it (Ed25519).
package proof
