package ignore

import "strings"

// Bounds of one file. Patterns beyond them are not heeded.
const (
	maxPatterns = 8 << 10
	maxPattern  = 1 << 10 // bytes
)

// Verdict is what rules say of a path.
type Verdict uint8

const (
	Silent Verdict = iota // no pattern matches
	Leave                 // out
	Keep                  // a pattern with "!" matches
)

// Rules are ignore files from the top down to some folder. The nil Rules are none.
type Rules struct {
	outer    *Rules
	folder   string // "" for the top, else it ends with a slash
	patterns []pattern
}

// With adds the ignore file of the folder, "" being the top, below which all
// paths lie that are matched with the result. Of the text the first 8,192
// patterns count, and of these those of at most 1,024 bytes.
func (r *Rules) With(folder, text string) *Rules {
	var list []pattern
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		p, ok := parse(line)
		if ok && len(list) < maxPatterns {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return r
	}
	if folder != "" {
		folder += "/"
	}
	return &Rules{outer: r, folder: folder, patterns: list}
}

// Match judges a path from the top, slash separated.
func (r *Rules) Match(path string, isFolder bool) Verdict {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.outer {
		below := path[len(r.folder):]
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if p := &r.patterns[i]; p.match(below, name, isFolder) {
				return p.verdict
			}
		}
	}
	return Silent
}
