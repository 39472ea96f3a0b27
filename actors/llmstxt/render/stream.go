package render

import (
	"bytes"
	"context"
	"io"
	"iter"
	"runtime"
	"slices"

	"github.com/seed889630bf/lastword/actors/llmstxt/inorder"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
	"github.com/seed889630bf/lastword/actors/llmstxt/shown"
)

// made is the block of an entry. What else is known about its file is reported once the block is taken, because it
// depends on the workers how many blocks are made but never taken.
type made struct {
	text   *bytes.Buffer
	cost   room
	tokens int // of the file, if it is linked and the caller asks
	found  []secret.Finding
}

// tell reports that the block of the i-th entry was taken.
func (p *packing) tell(i int, m made) {
	p.pack.Secrets.Add(m.found)
	if e := p.entries[i]; p.pack.Linked != nil && e.section >= 0 {
		p.pack.Linked(e.link.file, m.tokens)
	}
}

// stream writes all entries, with a few files in memory at a time.
func (p *packing) stream(w io.Writer, before func(i int)) error {
	i := 0
	for block, err := range p.blocks(slices.Sorted(slices.Values(p.order))) {
		if err != nil {
			return err
		}
		before(i)
		if _, err := w.Write(block.text.Bytes()); err != nil {
			return err
		}
		p.tell(i, block)
		p.spare.Put(block.text)
		i++
	}
	return nil
}

// blocks makes the blocks of entries in the order of the indexes.
func (p *packing) blocks(order []int) iter.Seq2[made, error] {
	workers := min(runtime.GOMAXPROCS(0), 4)
	return inorder.Each(p.ctx, p.pack.Go, workers, len(order),
		func(ctx context.Context) (makeBlock func(n int) (made, error), done func()) {
			texts := p.pack.texts(ctx, p.files)
			return func(n int) (made, error) {
				f, err := texts.Read(p.entries[order[n]].link.file, p.pack.FileBytes)
				if err != nil {
					return made{}, err
				}
				text := p.spare.Get().(*bytes.Buffer)
				text.Reset()
				p.block(text, p.entries[order[n]], f)
				return made{text: text, cost: p.cost(text.Bytes()), tokens: p.tokensOf(order[n], f), found: f.Found}, nil
			}, texts.Close
		})
}

// tokensOf counts the tokens of the i-th entry's file, if the caller asks.
func (p *packing) tokensOf(i int, f shown.Text) int {
	if p.pack.Linked == nil || p.entries[i].section < 0 || f.Absent != "" {
		return 0
	}
	return p.pack.Counts.Of(f.Text)
}
