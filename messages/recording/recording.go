package recording

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed889630bf/lastword/messages"
)

// Input describes a file that the run has read. The file is kept beside the recording.
type Input struct {
	Name   string `json:"input"`
	SHA256 string `json:"sha256"`
}

// InputOf reads the file and returns its description.
func InputOf(file string) (Input, error) {
	data, err := os.ReadFile(file)
	return Input{filepath.Base(file), messages.Digest(string(data))}, err
}

// Line decodes a line: an Input if in has a name, and otherwise an event.
func Line(line []byte) (in Input, e messages.Event, err error) {
	if json.Unmarshal(line, &in) == nil && in.Name != "" {
		return in, e, nil
	}
	return Input{}, e, json.Unmarshal(line, &e)
}
