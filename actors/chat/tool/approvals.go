package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
)

// Approvals is a file with a line of JSON for each tool that may always be called without asking the user, which several
// processes may share. Whoever removes a line is asked again. One process at a time adds to it.
type Approvals struct{ path string }

// OpenApprovals returns the list in the file with the path. Adding the first tool creates the file.
func OpenApprovals(path string) *Approvals { return &Approvals{path} }

// approval is a line of the file.
type approval struct {
	Tool string    `json:"tool"`
	Pin  string    `json:"pin"`
	At   time.Time `json:"at"`
}

// Has reports whether the list has a tool with the pin.
func (f *Approvals) Has(pin string) (bool, error) {
	data, err := regular.Read(f.path, regular.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for text := range bytes.Lines(data) {
		var l approval
		if json.Unmarshal(text, &l) == nil && l.Pin == pin {
			return true, err
		}
	}
	return false, err
}

// Latest returns the newest pins of the tools in the list, by tool. Without names it returns those of all.
func (f *Approvals) Latest(tools ...string) (map[string]string, error) {
	data, err := regular.Read(f.path, regular.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	pins := map[string]string{}
	for text := range bytes.Lines(data) {
		var l approval
		if json.Unmarshal(text, &l) == nil && (len(tools) == 0 || slices.Contains(tools, l.Tool)) {
			pins[l.Tool] = l.Pin
		}
	}
	return pins, err
}

// Add adds a tool to the list.
func (f *Approvals) Add(tool, pin string) error {
	text, err := json.Marshal(approval{tool, pin, time.Now().UTC()})
	if err != nil {
		return err
	}
	return atomicfile.Change(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, func(_ *os.Root, file *os.File) error {
		_, err := file.Write(append(text, '\n'))
		return errors.Join(err, file.Sync())
	})
}
