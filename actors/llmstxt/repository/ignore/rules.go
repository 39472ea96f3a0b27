package ignore

import (
	"context"
	"strings"
)

// Bounds of one file. Patterns beyond them are not heeded.
const (
	maxPatterns = 8 << 10
	maxPattern  = 1 << 10 // bytes
	// maxParts is of the patterns with wildcards: a few bytes make a part that takes many.
	maxParts = 16 << 10
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
	exact    map[exact]int // the last of the patterns that want a name or path as it is
	loose    []int         // all others, by their places
	work     *work
}

// exact is a pattern without wildcards.
type exact struct {
	text               string
	ofPath, folderOnly bool
}

// work is how many more steps matching may take. Nil stands for any number.
type work struct {
	ctx  context.Context
	left int
}

// spend looks at the context now and then, and once that is done leaves no more steps.
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

// Bounded returns rules without a pattern. All that is made of them shares so many steps: about one for each pattern
// with a wildcard that is held against a path, and more where the wildcard is tried again and again. They last no
// longer than ctx.
func Bounded(ctx context.Context, steps int) *Rules { return &Rules{work: &work{ctx, steps}} }

// Spent tells that the steps are used up. What is matched then is left out.
func (r *Rules) Spent() bool { return r != nil && r.work.spent() }

// With adds the ignore file of the folder, "" being the top, below which all paths lie that are matched with the
// result. Of the text the first 8,192 patterns count, and of these those of at most 1,024 bytes, and of those with
// wildcards up to 16,384 segments.
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

// Match judges a path from the top, slash separated.
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

// last is the place of the last pattern of the file that matches, -1 where none does.
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
