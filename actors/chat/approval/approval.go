package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/regular"
)

// File is a list of tools in a file, which several processes may share. One process at a time adds to it.
type File struct{ path string }

// Open returns the list in the file with the path. Adding the first tool creates the file.
func Open(path string) *File { return &File{path} }

// line is a line of the file.
type line struct {
	Tool string    `json:"tool"`
	Pin  string    `json:"pin"`
	At   time.Time `json:"at"`
}

// Has reports whether the list has a tool with the pin.
func (f *File) Has(pin string) (bool, error) {
	data, err := regular.Read(f.path, regular.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for text := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(text, &l) == nil && l.Pin == pin {
			return true, err
		}
	}
	return false, err
}

// Add adds a tool to the list.
func (f *File) Add(tool, pin string) error {
	text, err := json.Marshal(line{tool, pin, time.Now().UTC()})
	if err != nil {
		return err
	}
	return atomicfile.Change(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, func(_ *os.Root, file *os.File) error {
		_, err := file.Write(append(text, '\n'))
		return errors.Join(err, file.Sync())
	})
}
