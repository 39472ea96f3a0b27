package render

import (
	"bytes"
	"context"
	"io"
	"runtime"

	"github.com/seed889630bf/lastword/actors/llmstxt/inorder"
)

// stream holds a few files at a time.
func (p *packing) stream(w io.Writer, before func(i int)) error {
	i := 0
	workers := min(runtime.GOMAXPROCS(0), 4)
	for block, err := range inorder.Each(p.ctx, p.pack.Go, workers, len(p.entries), p.newBlocks) {
		if err != nil {
			return err
		}
		before(i)
		if _, err := w.Write(block.Bytes()); err != nil {
			return err
		}
		p.spare.Put(block)
		i++
	}
	return nil
}

// blocks makes the blocks of entries.
type blocks struct {
	*packing
	texts *texts
}

func (p *packing) newBlocks(ctx context.Context) inorder.Worker[*bytes.Buffer] {
	return blocks{p, newTexts(ctx, p.files, p.pack)}
}

func (b blocks) Make(i int) (*bytes.Buffer, error) {
	f, err := b.texts.take(b.entries[i])
	if err != nil {
		return nil, err
	}
	block, ok := b.spare.Get().(*bytes.Buffer)
	if !ok {
		block = new(bytes.Buffer)
	}
	block.Reset()
	b.block(block, b.entries[i], f)
	return block, nil
}

func (b blocks) Close() { b.texts.close() }
