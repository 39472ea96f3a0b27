package recording

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed889630bf/lastword/messages"
)

// Input is a line about a file that the run has read, and which is kept beside the recording.
type Input struct {
	Name   string `json:"input"`
	SHA256 string `json:"sha256"`
}

// InputOf reads the file.
func InputOf(file string) (Input, error) {
	data, err := os.ReadFile(file)
	return Input{filepath.Base(file), messages.Digest(string(data))}, err
}

// Line reads a line. It is an event, unless in has a name.
func Line(line []byte) (in Input, e messages.Event, err error) {
	if json.Unmarshal(line, &in) == nil && in.Name != "" {
		return in, e, nil
	}
	return Input{}, e, json.Unmarshal(line, &e)
}
