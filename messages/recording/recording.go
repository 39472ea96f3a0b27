package recording

import (
	"encoding/json"
	"path/filepath"

	"github.com/seed889630bf/lastword/messages"
)

// Input describes a file that the run has read. The file is kept beside the recording.
type Input struct {
	Name   string `json:"input"`
	SHA256 string `json:"sha256"`
}

// InputOf returns the description of the file, which holds data.
func InputOf(file string, data []byte) Input {
	return Input{filepath.Base(file), messages.Digest(string(data))}
}

// Line decodes a line: an Input if in has a name, and otherwise an event.
func Line(line []byte) (in Input, e messages.Event, err error) {
	if json.Unmarshal(line, &in) == nil && in.Name != "" {
		return in, e, nil
	}
	return Input{}, e, json.Unmarshal(line, &e)
}
