// Package replay runs a recorded run again, with the answers that it got, and finds where changed code differs.
//
// A recording is a file of lines, see package messages/recording. Time is virtual and begins when the recorded run did; each answer comes when it came then.
package replay
