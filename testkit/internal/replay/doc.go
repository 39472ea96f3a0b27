// Package replay runs a recorded run again with its recorded answers, and finds where changed code behaves
// differently.
//
// A recording is a file of lines; see messages.RecordedLine. Time is virtual and begins when the recorded run
// did. Each answer comes at its recorded time.
package replay
