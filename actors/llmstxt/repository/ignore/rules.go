package ignore

import (
	"context"
	"strings"
)

// Limits of one file. Patterns beyond them are ignored.
const (
	maxPatterns = 8 << 10
	maxPattern  = 1 << 10 // bytes
	// maxParts bounds the segments of patterns with wildcards: a few bytes make a segment that takes many bytes of
	// memory.
	maxParts = 16 << 10
)

// Verdict is the decision of rules about a path.
type Verdict uint8

const (
	Silent Verdict = iota // no pattern matches
	Leave                 // the path is excluded
	Keep                  // a pattern with "!" matches
)

// Rules are the ignore files from the top down to some folder. They never change. nil means no rules.
type Rules struct {
	outer    *Rules
	folder   string // "" for the top; otherwise it ends with a slash
	patterns []pattern
	exact    map[exact]int // index of the last pattern that matches exactly this name or path
	loose    []int         // indexes of all other patterns
	work     *work
}

// exact is a pattern without wildcards.
type exact struct {
	text               string
	ofPath, folderOnly bool
}

// work is the remaining number of matching steps. nil means no limit.
type work struct {
	ctx  context.Context
	left int
}

// spend uses up steps. Now and then it checks the context; when that is done, no steps are left.
func (w *work) spend(steps int) {
	if w == nil {
		return
	}
	const often = 1 << 20
	if (w.left-steps)/often != w.left/often && w.ctx.Err() != nil {
		w.left = 0
	}
	w.left -= steps
}

func (w *work) spent() bool { return w != nil && w.left <= 0 }

// Bounded returns rules without patterns. All rules derived from them share a number of steps: about one for each
// pattern with a wildcard that is compared with a path, and more if the wildcard is retried. They are usable only
// until ctx is done.
func Bounded(ctx context.Context, steps int) *Rules { return &Rules{work: &work{ctx, steps}} }

// Spent reports whether the steps are used up. Paths that are matched after that are excluded.
func (r *Rules) Spent() bool { return r != nil && r.work.spent() }

// With adds the ignore file of a folder; "" is the top. All paths that are matched with the result must be below the
// folder. Only the first 8,192 patterns count; among them those of at most 1,024 bytes, and with wildcards up to
// 16,384 segments.
func (r *Rules) With(folder, text string) *Rules {
	var list []pattern
	var loose []int
	literals, parts := map[exact]int{}, 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		p, ok := parse(line)
		if !ok || len(list) == maxPatterns || parts >= maxParts {
			continue
		}
		if text, ok := p.literal(); ok {
			literals[exact{text, p.ofPath, p.folderOnly}] = len(list)
			p.parts = nil
		} else {
			loose = append(loose, len(list))
			parts += len(p.parts)
		}
		list = append(list, p)
	}
	if r != nil {
		r.work.spend(len(list))
	}
	if len(list) == 0 {
		return r
	}
	if folder != "" {
		folder += "/"
	}
	inner := &Rules{outer: r, folder: folder, patterns: list, exact: literals, loose: loose}
	if r != nil {
		inner.work = r.work
	}
	return inner
}

// Match decides about a slash-separated path from the top.
func (r *Rules) Match(path string, isFolder bool) Verdict {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.outer {
		i := r.last(path[len(r.folder):], name, isFolder)
		switch {
		case r.work.spent():
			return Leave
		case i >= 0:
			return r.patterns[i].verdict
		}
	}
	return Silent
}

// last returns the index of the last pattern of the file that matches, or -1.
func (r *Rules) last(path, name string, isFolder bool) int {
	found := -1
	for _, e := range []exact{{name, false, false}, {path, true, false}, {name, false, true}, {path, true, true}} {
		if i, ok := r.exact[e]; ok && (isFolder || !e.folderOnly) {
			found = max(found, i)
		}
	}
	for k := len(r.loose) - 1; k >= 0 && r.loose[k] > found && !r.work.spent(); k-- {
		r.work.spend(1)
		if p := &r.patterns[r.loose[k]]; p.match(path, name, isFolder, r.work) {
			return r.loose[k]
		}
	}
	return found
}
