// Package responses answers /v1/responses of the OpenAI API.
//
// A response is a segment of a run, see package transcript; its id is that of the run with the segment's number. With
// background it outlives its client. A sequence_number is the number of the run's last milestone, shifted by 26 bits,
// plus a position after it, which is the same however the log was merged: each byte of a text counts, and each other
// event is one. So a stream goes on after any number that somebody was sent.
package responses
