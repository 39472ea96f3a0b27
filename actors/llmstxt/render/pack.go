package render

import (
	"bytes"
	"context"
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
		before(i)
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the blocks by importance. All begin as the words that the file is left out, so that the budget holds them
// too; from the first file on that cannot be shown whole, no other is.
func (p *packing) fill(used int64) ([][]byte, error) {
	texts := newTexts(p.ctx, p.files, p.pack.FileBytes)
	defer texts.close()
	blocks := make([][]byte, len(p.entries))
	for i, e := range p.entries {
		blocks[i] = p.render(e, fileText{absent: noRoom})
		used += int64(len(blocks[i]))
	}
	full := false
	for _, i := range p.order {
		e := p.entries[i]
		if full {
			p.drop(e)
			continue
		}
		f, err := texts.take(e)
		if err != nil {
			return nil, err
		}
		room := p.pack.Budget - used + int64(len(blocks[i]))
		block, whole := p.fit(e, f, room)
		if full = !whole; block == nil {
			p.drop(e)
			continue
		}
		used += int64(len(block) - len(blocks[i]))
		blocks[i] = block
	}
	return blocks, nil
}

func (p *packing) drop(e entry) {
	if !e.again {
		p.dropped = append(p.dropped, e.link.path)
	}
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
