package render

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
)

// noRoom is the note in place of a file that exceeds the budget.
const noRoom = "over the size budget"

// leastCut is the least text of a cut file that is worth showing.
const leastCut = 1 << 10

// packing writes the files of the entries, each as a block, within the budget.
type packing struct {
	ctx     context.Context
	files   fs.FS
	pack    Pack
	entries []entry
	order   []int // most important first
	block   func(b *bytes.Buffer, e entry, f sanitize.Text)
	counts  bool      // tokens are counted; a text with fewer bytes than the budget has tokens fits anyway
	dropped []string  // most important first
	silent  int       // number of dropped files without a note
	spare   sync.Pool // pool of buffers
}

func newPacking(ctx context.Context, files fs.FS, v cleaned, p Pack) *packing {
	list := v.entries(p.Rest)
	return &packing{ctx: ctx, files: files, pack: p.withDefaults(), entries: list, order: v.byImportance(list, p.Rest),
		spare: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
}

// room is the rest of a budget.
type room struct{ bytes, tokens int64 }

func (r room) minus(o room) room { return room{r.bytes - o.bytes, r.tokens - o.tokens} }

func (r room) plus(o room) room { return room{r.bytes + o.bytes, r.tokens + o.tokens} }

func (r room) holds(o room) bool { return o.bytes <= r.bytes && o.tokens <= r.tokens }

// cost returns the cost of a text.
func (p *packing) cost(text []byte) room {
	if p.counts {
		return room{int64(len(text)), int64(p.pack.Counts.Of(p.ctx, text))}
	}
	return room{int64(len(text)), int64(len(text))}
}

// write writes the entries in order, and calls before for each. around is the text around them.
func (p *packing) write(w io.Writer, around string, before func(i int)) error {
	if p.pack.Bytes == 0 && p.pack.Tokens == 0 {
		return p.stream(w, before)
	}
	blocks, err := p.fill(around)
	if err != nil {
		return err
	}
	for i, block := range blocks {
		if block == nil {
			p.silent++
			continue
		}
		before(i)
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// notesShare is the fraction of the budget that notes about omitted files may take.
const notesShare = 4

// fill makes the blocks by importance. Every block starts as a note that the file is omitted, as far as there is room
// for notes. After the first file that does not fit completely, no other file is shown.
func (p *packing) fill(around string) ([][]byte, error) {
	all := room{cmp.Or(p.pack.Bytes, math.MaxInt64), cmp.Or(p.pack.Tokens, math.MaxInt64)}
	left := all.minus(p.cost([]byte(around + mostMore)))
	blocks, notes := p.notes(room{min(all.bytes/notesShare, left.bytes), min(all.tokens/notesShare, left.tokens)})
	left = left.minus(notes)
	n := 0 // number of entries that fit completely
	for block, err := range p.blocks(p.order) {
		if err != nil {
			return nil, err
		}
		i := p.order[n]
		next := left.plus(p.cost(blocks[i])).minus(block.cost)
		if !next.holds(room{}) {
			break
		}
		left, blocks[i] = next, block.text.Bytes()
		p.tell(i, block)
		n++
	}
	switch {
	case n == len(p.order):
		return blocks, nil
	case !p.counts && p.pack.Tokens > 0:
		p.counts = true
		return p.fill(around)
	}
	for _, i := range p.order[n:] {
		p.dropped = append(p.dropped, p.entries[i].link.file) // or its end
	}
	cut, err := p.cut(p.order[n], left.plus(p.cost(blocks[p.order[n]])))
	if cut != nil {
		blocks[p.order[n]] = cut
	}
	return blocks, err
}

// notes makes the notes about omitted files, for as many of the most important as there is room for.
func (p *packing) notes(left room) (blocks [][]byte, used room) {
	blocks = make([][]byte, len(p.entries))
	for _, i := range p.order {
		block := p.render(p.entries[i], sanitize.Text{Absent: noRoom})
		cost := p.cost(block)
		if !left.holds(cost) {
			return blocks, used
		}
		blocks[i] = block
		left, used = left.minus(cost), used.plus(cost)
	}
	return blocks, used
}

// mostMore is the longest text that more returns.
const mostMore = "\nLeft out: 18446744073709551615 more, over the size budget.\n"

// more says how many files are omitted without a note.
func (p *packing) more() string {
	if p.silent == 0 {
		return ""
	}
	return fmt.Sprintf("\nLeft out: %d more, over the size budget.\n", p.silent)
}

// cut renders as much of the entry's file as there is room for; nil if that is next to nothing.
func (p *packing) cut(i int, left room) ([]byte, error) {
	const cutNote = "\nCut: 18446744073709551615 more bytes.\n"
	texts := p.pack.texts(p.ctx, p.files)
	defer texts.Close()
	f, err := texts.Read(p.entries[i].link.file, p.pack.FileBytes)
	if err != nil {
		return nil, err
	}
	p.tell(i, made{tokens: p.tokensOf(i, f), found: f.Found})
	for text := f.Text; ; {
		f.Cut, f.Text = f.Cut+len(f.Text)-len(text), text
		block := p.render(p.entries[i], f)
		cost := p.cost(block)
		if left.holds(cost) {
			return block, nil
		}
		over := max(cost.bytes-left.bytes, 0)
		if cost.tokens > left.tokens { // assume that tokens have about equal length
			over = max(over, (cost.tokens-left.tokens)*cost.bytes/cost.tokens)
		}
		if text = sanitize.CutLines(text, len(text)-int(over)-len(cutNote)); len(text) < leastCut {
			return nil, nil
		}
	}
}

func (p *packing) render(e entry, f sanitize.Text) []byte {
	var b bytes.Buffer
	p.block(&b, e, f)
	return b.Bytes()
}

// Fit returns the index with as many links as an llms.txt within the budget can hold. dropped has the other links, in
// the order in which they were dropped. least is the size of title, summary and facts alone: a smaller budget is too
// small.
func Fit(index *rank.Index, budget int64) (fitting *rank.Index, dropped []rank.Link, least int64) {
	least = int64(len(newCleaned(index).front()))
	fitting = new(*index)
	for {
		var text bytes.Buffer
		_ = Txt(&text, fitting) // writing to a buffer never fails
		over := int64(text.Len()) - budget
		if over <= 0 || len(fitting.Sections) == 0 {
			return fitting, dropped, least
		}
		for over > 0 && len(fitting.Sections) > 0 {
			for _, l := range dropLeast(fitting) {
				dropped = append(dropped, l)
				over -= int64(len("- [](): \n") + len(l.Title) + len(l.URL) + len(l.Note))
			}
		}
	}
}

// dropLeast removes the least important link of the longest section, and the section if it is then empty. It takes
// links of Optional, which say how to work on the project, only when there are no others.
func dropLeast(index *rank.Index) []rank.Link {
	section := 0
	for i, s := range index.Sections {
		longest := index.Sections[section]
		if s.Name != rank.Optional && (longest.Name == rank.Optional || len(s.Links) >= len(longest.Links)) {
			section = i
		}
	}
	all, links := index.Sections, index.Sections[section].Links
	if len(links) < 2 {
		index.Sections = slices.Concat(all[:section], all[section+1:])
		return links
	}
	link := 0
	for j, l := range links {
		if l.Score <= links[link].Score {
			link = j
		}
	}
	index.Sections = slices.Clone(all)
	index.Sections[section].Links = slices.Concat(links[:link], links[link+1:])
	return links[link : link+1]
}
