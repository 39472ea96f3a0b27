// Package responses serves /v1/responses of the OpenAI API.
//
// A response is a segment of a run, see package transcript; its id consists of the run's id and the segment's number.
// With background, the run outlives its client. A sequence_number consists of the number of the run's last milestone,
// shifted by 26 bits, and a position after it. The position does not depend on how the log was merged: each byte of
// text counts as one, and so does each other event. So a stream can continue after any number that a client has
// received.
package responses
