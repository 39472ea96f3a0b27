// Package recording reads and writes recorded runs, line by line: the events of a run and its sub-runs, and an
// [Input] for each file that the run has read.
package recording
