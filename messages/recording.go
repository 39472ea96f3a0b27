package messages

import (
	"encoding/json"
	"path/filepath"
)

// A recording has the events of a run and its sub-runs, a line each, and a RecordedInput for each file that the run has
// read.

// RecordedInput describes a file that the run has read. The file is kept beside the recording.
type RecordedInput struct {
	Name   string `json:"input"`
	SHA256 string `json:"sha256"`
}

// RecordInput returns the description of the file, which holds data.
func RecordInput(file string, data []byte) RecordedInput {
	return RecordedInput{filepath.Base(file), Digest(string(data))}
}

// RecordedLine decodes a line of a recording: a RecordedInput if in has a name, and otherwise an event.
func RecordedLine(line []byte) (in RecordedInput, e Event, err error) {
	if json.Unmarshal(line, &in) == nil && in.Name != "" {
		return in, e, nil
	}
	return RecordedInput{}, e, json.Unmarshal(line, &e)
}
