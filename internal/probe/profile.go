package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Schema is the version of a Profile in a file. Read refuses others.
const Schema = "lastword.server/1"

// Profile is what Run has learned about a server, with the results of the checks. It contains no key.
type Profile struct {
	Schema  string    `json:"schema"`
	BaseURL string    `json:"base_url"`
	Checked time.Time `json:"checked"`
	Version string    `json:"version,omitempty"` // of this program
	Model   string    `json:"model,omitempty"`   // the model that answered
	// Server is what the client needs to know.
	Server  llm.ServerProfile `json:"server"`
	Context int               `json:"context,omitempty"` // in tokens; 0 if unknown
	// Structured is the strictest way to get JSON: "json_schema strict", "json_schema", "json_object", "tool call" or
	// "prompt".
	Structured string   `json:"structured,omitempty"`
	Results    []Result `json:"checks"`
}

// Count returns the number of checks with the status.
func (p *Profile) Count(s Status) (n int) {
	for _, r := range p.Results {
		if r.Status == s {
			n++
		}
	}
	return n
}

// done completes the profile.
func (p *prober) done() *Profile {
	l := &p.learned
	if r := p.first; r != nil && r.ok() {
		l.Server.Profile = model.Generic
		if r.end.Evidence.Done {
			l.Server.Profile = model.Strict
		}
	}
	if l.Server.Thoughts != "" {
		l.Server.Model = l.Model
	}
	return l
}

// Write writes the file atomically, and creates its folders.
func (p *Profile) Write(name string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return confined.WriteDurable(filepath.Dir(name), filepath.Base(name), 0o600, string(append(text, '\n')))
}

// Read reads the file. It returns nil if there is none.
func Read(name string) (*Profile, error) {
	text, err := regular.Read(name, regular.Small)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // the home directory may not be a folder
	}
	if err != nil {
		return nil, err
	}
	var p Profile
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("%s is not the profile of a server: %w", name, err)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("%s has the schema %q, not %s; make a new one: lastword provider check", name, p.Schema, Schema)
	}
	return &p, nil
}

// FileName returns the path of a server's profile below the user's configuration folder.
func FileName(baseURL string) string {
	_, address, ok := strings.Cut(strings.TrimRight(baseURL, "/"), "://")
	if !ok {
		address = baseURL
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, address)
	return filepath.Join("lastword", "servers", name+".json")
}
