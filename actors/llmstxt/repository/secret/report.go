package secret

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Finding is a secret that was found, without the secret itself.
type Finding struct {
	Rule string `json:"rule" jsonschema:"the kind of the secret, such as github-token"`
	Path string `json:"path"`
	Line int    `json:"line"`
}

// RedactFile redacts a file's text, and returns what it found.
func (f *Finder) RedactFile(path string, text []byte) (shown []byte, found []Finding) {
	line, counted := 1, 0
	shown = f.Redact(text, func(rule string, at int) {
		line += bytes.Count(text[counted:at], []byte("\n"))
		counted = at
		found = append(found, Finding{rule, path, line})
	})
	return shown, found
}

// Report collects findings. The zero value is empty. It is safe for concurrent use.
type Report struct {
	mu  sync.Mutex
	all map[Finding]struct{}
}

// Add adds findings, each once.
func (r *Report) Add(found []Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		if r.all == nil {
			r.all = map[Finding]struct{}{}
		}
		r.all[f] = struct{}{}
	}
}

// Findings returns the findings, sorted by path and line.
func (r *Report) Findings() []Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedStableFunc(maps.Keys(r.all), func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
}
