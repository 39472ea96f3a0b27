package render

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
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
	dropped []string // most important first
	silent  int      // how many of them are nowhere in what is written
}

func newPacking(ctx context.Context, files fs.FS, v view, p Pack, list []entry) *packing {
	return &packing{ctx: ctx, files: files, pack: p, entries: list, order: v.byImportance(list, p.Rest)}
}

// write gives out the entries in their order; before is called in front of each.
func (p *packing) write(w io.Writer, used int64, before func(i int)) error {
	if p.pack.Budget < 0 {
		return p.stream(w, before)
	}
	blocks, err := p.fill(used)
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
func (p *packing) fill(used int64) ([][]byte, error) {
	texts := newTexts(p.ctx, p.files, p.pack.FileBytes)
	defer texts.close()
	blocks, notes := p.notes(min(p.pack.Budget/notesShare, p.pack.Budget-used))
	used += notes
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
		room := p.pack.Budget - used + int64(len(blocks[i]))
		block, whole := p.fit(e, f, room)
		if full = !whole; block == nil {
			p.drop(e, blocks[i])
			continue
		}
		used += int64(len(block) - len(blocks[i]))
		blocks[i] = block
	}
	return blocks, nil
}

// notes are the words that files are left out, for as many of the most important as there is room for.
func (p *packing) notes(room int64) (blocks [][]byte, used int64) {
	blocks = make([][]byte, len(p.entries))
	for _, i := range p.order {
		block := p.render(p.entries[i], fileText{absent: noRoom})
		if used+int64(len(block)) > room {
			return blocks, used
		}
		blocks[i] = block
		used += int64(len(block))
	}
	return blocks, used
}

// drop counts what is left out; note is what is written in its place, if anything.
func (p *packing) drop(e entry, note []byte) {
	if e.again {
		return
	}
	p.dropped = append(p.dropped, e.link.path)
	if note == nil {
		p.silent++
	}
}

// mostMore is the most bytes that more gives.
const mostMore = 80

// more says how many files are left out without a word.
func (p *packing) more() string {
	if p.silent == 0 {
		return ""
	}
	return fmt.Sprintf("\nLeft out: %d more, over the size budget.\n", p.silent)
}

// fit renders as much of the file as there is room for; nil when that is next to nothing.
func (p *packing) fit(e entry, f fileText, room int64) (block []byte, whole bool) {
	block = p.render(e, f)
	over := int64(len(block)) - room
	if over <= 0 {
		return block, true
	}
	text := cutLines(f.text, len(f.text)-int(over)-len("\nCut: 18446744073709551615 more bytes.\n"))
	if len(text) < leastCut {
		return nil, false
	}
	f.cut += len(f.text) - len(text)
	f.text = text
	if block = p.render(e, f); int64(len(block)) > room {
		return nil, false
	}
	return block, false
}

func (p *packing) render(e entry, f fileText) []byte {
	var b bytes.Buffer
	p.block(&b, e, f)
	return b.Bytes()
}
