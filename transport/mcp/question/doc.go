// Package question puts what a run asks to the user of the client that calls, and gives the run the answer: by
// input_required and a signed requestState since 2026-07-28, by elicitation/create before.
package question
