package render

import (
	"bytes"
	"context"
	"io"
	"runtime"
)

// readAhead is how many blocks a worker may be in front of the writer.
const readAhead = 4

// stream holds a few files at a time. Workers make the blocks by turns, each its own, so that their order is known.
func (p *packing) stream(w io.Writer, before func(i int)) error {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel() // the workers stop where the writer does
	workers := min(runtime.GOMAXPROCS(0), 4, len(p.entries))
	if p.pack.Go == nil || workers < 2 {
		return p.alone(w, before)
	}
	turns := make([]*worker, workers)
	for i := range turns {
		turns[i] = &worker{p: p, ctx: ctx, first: i, step: workers,
			made: make(chan made, readAhead), spare: make(chan *bytes.Buffer, readAhead+2)}
		p.pack.Go(turns[i].run)
	}
	for i := range p.entries {
		turn := turns[i%workers]
		next, err := turn.next(p.ctx)
		if err != nil {
			return err
		}
		before(i)
		if _, err := w.Write(next.Bytes()); err != nil {
			return err
		}
		turn.spare <- next
	}
	return nil
}

func (p *packing) alone(w io.Writer, before func(i int)) error {
	texts := newTexts(p.ctx, p.files, p.pack)
	defer texts.close()
	var block bytes.Buffer
	for i, e := range p.entries {
		f, err := texts.take(e)
		if err != nil {
			return err
		}
		block.Reset()
		p.block(&block, e, f)
		before(i)
		if _, err := w.Write(block.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// worker makes the blocks of every step-th entry from first on.
type worker struct {
	p           *packing
	ctx         context.Context
	first, step int
	made        chan made
	spare       chan *bytes.Buffer // written blocks; there is room for all that are in use
}

type made struct {
	block *bytes.Buffer
	err   error
}

// run never fails of itself: the writer hears of errors by the blocks.
func (w *worker) run(context.Context) error {
	texts := newTexts(w.ctx, w.p.files, w.p.pack)
	defer texts.close()
	for i := w.first; i < len(w.p.entries); i += w.step {
		e := w.p.entries[i]
		f, err := texts.take(e)
		block := w.buffer()
		if err == nil {
			w.p.block(block, e, f)
		}
		select {
		case w.made <- made{block, err}:
		case <-w.ctx.Done():
			return nil
		}
		if err != nil {
			return nil
		}
	}
	return nil
}

func (w *worker) buffer() *bytes.Buffer {
	select {
	case b := <-w.spare:
		b.Reset()
		return b
	default:
		return new(bytes.Buffer)
	}
}

func (w *worker) next(ctx context.Context) (*bytes.Buffer, error) {
	select {
	case m := <-w.made:
		return m.block, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
