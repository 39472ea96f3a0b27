// Package recording reads and writes the lines of a recorded run: its events and those of its sub-runs, and an [Input]
// for each file that the run has read.
package recording
