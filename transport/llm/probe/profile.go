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

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Schema names the form of a Profile in a file. Another one is not read.
const Schema = "lastword.server/1"

// Profile is what has been learned of a server, and what was seen. It holds no key.
type Profile struct {
	Schema  string    `json:"schema"`
	BaseURL string    `json:"base_url"`
	Checked time.Time `json:"checked"`
	Version string    `json:"version,omitempty"` // of the program
	Model   string    `json:"model,omitempty"`   // that was asked
	// Server is what the client goes by.
	Server  llm.ServerProfile `json:"server"`
	Context int               `json:"context,omitempty"` // tokens that fit; 0 where it is not known
	// BytesPerToken is of plain English; 0 where tokens are not counted.
	BytesPerToken float64 `json:"bytes_per_token,omitempty"`
	// ThoughtField is the server's own for thoughts; "" where they come in the text, or not at all.
	ThoughtField string `json:"thought_field,omitempty"`
	// Structured is the surest means that keeps an answer to a schema: "json_schema strict", "json_schema",
	// "json_object", "tool call" or "prompt".
	Structured string `json:"structured,omitempty"`
	// KeepsOrder says that the members of an answer come in the schema's order.
	KeepsOrder bool  `json:"keeps_order,omitempty"`
	Tools      Tools `json:"tools"`
	// Overflow is how a prompt that is too long fails: "status", "frame", "empty" or "drop".
	Overflow string   `json:"overflow,omitempty"`
	Results  []Result `json:"checks"`
}

// Tools is what calls can be had.
type Tools struct {
	Called   bool `json:"called,omitempty"`
	Forced   bool `json:"forced,omitempty"`
	Parallel bool `json:"parallel,omitempty"`
	Results  bool `json:"results,omitempty"`
}

// Count is how many checks had the status.
func (p *Profile) Count(s Status) (n int) {
	for _, r := range p.Results {
		if r.Status == s {
			n++
		}
	}
	return n
}

// Result is that of the check, and whether it was made.
func (p *Profile) Result(id string) (Result, bool) {
	for _, r := range p.Results {
		if r.ID == id {
			return r, true
		}
	}
	return Result{}, false
}

// passed says that the check was made and passed.
func (p *Profile) passed(id string) bool {
	r, ok := p.Result(id)
	return ok && r.Status == Pass
}

// done draws the conclusions.
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
	l.KeepsOrder = l.passed("schema-order")
	l.Tools = Tools{Called: l.passed("tool"), Forced: l.passed("tool-choice"), Parallel: l.passed("tool-parallel"),
		Results: l.passed("tool-result")}
	if _, ok := l.Result("json-strict"); ok {
		l.Structured = l.structured()
	}
	return l
}

func (p *Profile) structured() string {
	switch {
	case p.passed("json-strict"):
		return "json_schema strict"
	case p.passed("json-schema"):
		return "json_schema"
	case p.passed("json-object"):
		return "json_object"
	case p.Tools.Forced:
		return "tool call"
	}
	return "prompt"
}

// Write puts the profile into the file, whole or not at all, and makes the folders to it.
func (p *Profile) Write(name string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".profile-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails where it has its name already
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// Read is the profile in the file, nil where there is none.
func Read(name string) (*Profile, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // a home that is no folder holds no file either
	}
	if err != nil {
		return nil, err
	}
	var p Profile
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("%s: it is not the profile of a server: %w", name, err)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("%s: it is of the schema %q, not %s; make it anew: lastword provider check",
			name, p.Schema, Schema)
	}
	return &p, nil
}

// FileName is where the profile of a server is kept below the user's folder of configuration.
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
