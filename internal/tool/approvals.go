package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
)

// Approvals is a file with a line of JSON for each tool that may always be called without asking the user, which several
// processes may share. Anyone who removes a line is asked again. One process at a time adds to it.
type Approvals struct{ path string }

// OpenApprovals returns the list in the file with the path. Adding the first tool creates the file.
func OpenApprovals(path string) *Approvals { return &Approvals{path} }

// Approval is a line of the file.
type Approval struct {
	Tool string    `json:"tool"`
	Pin  string    `json:"pin"`
	At   time.Time `json:"at"`
}

// All returns the lines.
func (f *Approvals) All() (all []Approval, err error) {
	data, err := regular.Read(f.path, regular.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for text := range bytes.Lines(data) {
		var l Approval
		if json.Unmarshal(text, &l) == nil {
			all = append(all, l)
		}
	}
	return all, err
}

// Has reports whether the list has a tool with the pin.
func (f *Approvals) Has(pin string) (bool, error) {
	all, err := f.All()
	return slices.ContainsFunc(all, func(l Approval) bool { return l.Pin == pin }), err
}

// Latest returns the newest pins of the tools in the list, by tool. Without names it returns the pins of all tools.
func (f *Approvals) Latest(tools ...string) (map[string]string, error) {
	all, err := f.All()
	pins := map[string]string{}
	for _, l := range all {
		if len(tools) == 0 || slices.Contains(tools, l.Tool) {
			pins[l.Tool] = l.Pin
		}
	}
	return pins, err
}

// Remove removes the lines with the pin.
func (f *Approvals) Remove(pin string) error {
	return atomicfile.Change(f.path, os.O_RDWR, func(folder *os.Root, _ *os.File) error {
		all, err := f.All()
		if err != nil {
			return err
		}
		var text bytes.Buffer
		for _, l := range all {
			if line, _ := json.Marshal(l); l.Pin != pin { // texts and a time
				text.Write(append(line, '\n'))
			}
		}
		return atomicfile.WriteText(folder, filepath.Base(f.path), 0o600, text.String())
	})
}

// Add adds a tool to the list.
func (f *Approvals) Add(tool, pin string) error {
	text, err := json.Marshal(Approval{tool, pin, time.Now().UTC()})
	if err != nil {
		return err
	}
	return atomicfile.Change(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, func(_ *os.Root, file *os.File) error {
		_, err := file.Write(append(text, '\n'))
		return errors.Join(err, file.Sync())
	})
}
