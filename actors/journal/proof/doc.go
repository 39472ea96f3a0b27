// Package proof exports the log of a run in a form that can be checked anywhere: [Write] signs it, and [Read] checks
// it.
//
// A proof consists of lines of JSON. The first line names the form and the run. Each block of the log has a line with
// the chain's hash before it and its digest; the block's events follow that line as they are kept. The last line has
// the log's position, and signs every byte before it (Ed25519).
package proof
