package render

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"
)

// noRoom is said where a file would stand that the budget left no room for.
const noRoom = "over the size budget"

// leastCut is the least text that is worth showing of a file that is cut.
const leastCut = 1 << 10

// packing writes the entries' files, each by block, within the budget.
type packing struct {
	ctx     context.Context
	files   fs.FS
	pack    Pack
	entries []entry
	order   []int // most important first
	block   func(b *bytes.Buffer, e entry, f fileText)
	counts  bool      // tokens are counted: what has no more bytes than the budget has tokens fits in any case
	dropped []string  // most important first
	silent  int       // how many of them are nowhere in what is written
	spare   sync.Pool // of buffers that are written
}

func newPacking(ctx context.Context, files fs.FS, v view, p Pack, list []entry) *packing {
	return &packing{ctx: ctx, files: files, pack: p, entries: list, order: v.byImportance(list, p.Rest)}
}

// room is what a budget has left.
type room struct{ bytes, tokens int64 }

func (r room) minus(o room) room { return room{r.bytes - o.bytes, r.tokens - o.tokens} }

func (r room) plus(o room) room { return room{r.bytes + o.bytes, r.tokens + o.tokens} }

func (r room) holds(o room) bool { return o.bytes <= r.bytes && o.tokens <= r.tokens }

func (p *packing) cost(text []byte) room {
	if p.counts && p.pack.Tokens > 0 {
		return room{int64(len(text)), int64(p.pack.Counts.Of(text))}
	}
	return room{int64(len(text)), int64(len(text))}
}

// budget is the room for everything.
func (p *packing) budget() room {
	all := room{math.MaxInt64, math.MaxInt64}
	if p.pack.Bytes > 0 {
		all.bytes = p.pack.Bytes
	}
	if p.pack.Tokens > 0 {
		all.tokens = p.pack.Tokens
	}
	return all
}

// write gives out the entries in their order; before is called in front of each. around is what stands around them.
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
			continue
		}
		before(i)
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// notesShare is the part of the budget that the words may take that a file is left out.
const notesShare = 4

// fill makes the blocks by importance. They begin as the words that the file is left out, as far as there is room for
// these; from the first file on that cannot be shown whole, no other is.
func (p *packing) fill(around string) ([][]byte, error) {
	texts := newTexts(p.ctx, p.files, p.pack)
	defer texts.close()
	all := p.budget()
	left := all.minus(p.cost([]byte(around + mostMore)))
	blocks, notes := p.notes(room{min(all.bytes/notesShare, left.bytes), min(all.tokens/notesShare, left.tokens)})
	left = left.minus(notes)
	full := false
	for _, i := range p.order {
		e := p.entries[i]
		if full {
			p.drop(e, blocks[i])
			continue
		}
		f, err := texts.take(e)
		if err != nil {
			return nil, err
		}
		note := p.cost(blocks[i])
		block, cost, whole := p.fit(e, f, left.plus(note))
		if !whole && !p.counts && p.pack.Tokens > 0 {
			p.counts = true
			return p.fill(around)
		}
		if full = !whole; block == nil {
			p.drop(e, blocks[i])
			continue
		}
		if full {
			p.dropped = append(p.dropped, e.link.file) // its end
		}
		left = left.plus(note).minus(cost)
		blocks[i] = block
	}
	return blocks, nil
}

// notes are the words that files are left out, for as many of the most important as there is room for.
func (p *packing) notes(left room) (blocks [][]byte, used room) {
	blocks = make([][]byte, len(p.entries))
	for _, i := range p.order {
		block := p.render(p.entries[i], fileText{absent: noRoom})
		cost := p.cost(block)
		if !left.holds(cost) {
			return blocks, used
		}
		blocks[i] = block
		left, used = left.minus(cost), used.plus(cost)
	}
	return blocks, used
}

// drop counts what is left out; note is what is written in its place, if anything.
func (p *packing) drop(e entry, note []byte) {
	p.dropped = append(p.dropped, e.link.file)
	if note == nil {
		p.silent++
	}
}

// mostMore is the longest text that more gives.
const mostMore = "\nLeft out: 18446744073709551615 more, over the size budget.\n"

// more says how many files are left out without a word.
func (p *packing) more() string {
	if p.silent == 0 {
		return ""
	}
	return fmt.Sprintf("\nLeft out: %d more, over the size budget.\n", p.silent)
}

// fit renders as much of the file as there is room for; nil when that is next to nothing.
func (p *packing) fit(e entry, f fileText, left room) (block []byte, cost room, whole bool) {
	const cutNote = "\nCut: 18446744073709551615 more bytes.\n"
	whole = true
	for text := f.text; ; {
		f.cut, f.text = f.cut+len(f.text)-len(text), text
		block = p.render(e, f)
		cost = p.cost(block)
		if left.holds(cost) {
			return block, cost, whole
		}
		over := max(cost.bytes-left.bytes, 0)
		if cost.tokens > left.tokens { // each has as many bytes as the others, or so
			over = max(over, (cost.tokens-left.tokens)*cost.bytes/cost.tokens)
		}
		text = cutLines(text, len(text)-int(over)-len(cutNote))
		if whole = false; len(text) < leastCut {
			return nil, cost, false
		}
	}
}

func (p *packing) render(e entry, f fileText) []byte {
	var b bytes.Buffer
	p.block(&b, e, f)
	return b.Bytes()
}
