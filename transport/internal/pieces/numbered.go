package pieces

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"sync"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Numbered holds the answer of a run as numbered pieces of text, for readers that can only append. A published
// piece never changes, however the log is merged later. If the run takes text back, the pieces end with the failure "reset",
// unless the next attempt says the same text again. So they do if another process has published pieces of another text.
//
// One goroutine calls [Numbered.Read]; any number may call the other methods. mu guards the fields below it.
type Numbered struct {
	door.SegmentWriter
	most   int // maximum bytes of all text
	speech door.Speech

	mu     sync.Mutex
	text   []byte
	cuts   []int     // the end of each piece, as an offset in text
	sum    hash.Hash // of the text
	owed   *Served   // what another process has published, until the text is known to begin with it
	ended  bool
	failed *door.Reason  // why the pieces ended early
	reason model.Reason  // why the answer ended, if the run completed or waits
	more   chan struct{} // closed and replaced when something is added
}

// Served tells another process which pieces readers may have.
type Served struct {
	Cuts []int  `json:"cuts,omitempty"` // the end of each piece
	Sum  []byte `json:"sum,omitempty"`  // the SHA-256 digest of their text
}

// length returns the length of the text of all pieces.
func (s Served) length() int {
	if len(s.Cuts) == 0 {
		return 0
	}
	return s.Cuts[len(s.Cuts)-1]
}

// NewNumbered returns Numbered that hold at most most bytes of text, and begin with the pieces that were served.
func NewNumbered(most int, served Served) *Numbered {
	p := &Numbered{most: most, sum: sha256.New(), more: make(chan struct{})}
	if len(served.Cuts) > 0 {
		p.owed = &served
	}
	return p
}

// Served returns the pieces that were published.
func (p *Numbered) Served() Served {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed != nil {
		return *p.owed
	}
	return Served{p.cuts, p.sum.Sum(nil)}
}

// dialect is the one that fills Numbered: it takes the texts of the answer, and the end of the run.
var dialect = transcript.Dialect[*Numbered]{Rewind: (*Numbered).take, Table: transcript.Table[*Numbered]{
	transcript.Text:     {transcript.Open: (*Numbered).take, transcript.Append: (*Numbered).take, transcript.Done: (*Numbered).take},
	transcript.Question: {transcript.Wait: (*Numbered).wait},
	transcript.Run: {transcript.Open: func(p *Numbered, op *transcript.Op) { p.speech.Begin(op.Run) },
		transcript.End: func(p *Numbered, op *transcript.Op) {
			if failed := door.Failure(op.Event.Body); failed != nil {
				p.stop(failed)
				return
			}
			p.say(p.speech.Rest(op))
			p.complete(op)
		}},
}}

func (p *Numbered) take(op *transcript.Op) { p.say(p.speech.Take(op)) }

// wait ends the pieces at the question of a conversation: the client's next message answers it.
func (p *Numbered) wait(op *transcript.Op) {
	if op.Run.Queued.Labels[messages.ContextLabel] != "" {
		p.say(p.speech.Ask(op.Item), false)
		p.complete(op)
	}
}

// say adds a piece.
func (p *Numbered) say(piece string, anew bool) {
	switch {
	case anew && p.owed != nil:
		p.text = nil
	case anew:
		p.stop(p.reset("the text was taken back"))
	case len(p.text)+len(piece) > p.most:
		p.stop(&door.Reason{Code: string(messages.CauseLimitExceeded), Message: "the text is longer than a stream may be; read the run's result"})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || piece == "" {
		return
	}
	p.text = append(p.text, piece...)
	if p.owed != nil {
		served := p.owed.length()
		if len(p.text) < served {
			return
		}
		p.sum.Write(p.text[:served])
		if !bytes.Equal(p.sum.Sum(nil), p.owed.Sum) {
			p.end(p.reset("the text was taken back"))
			p.Over = true
			return
		}
		piece, p.cuts, p.owed = string(p.text[served:]), p.owed.Cuts, nil
	}
	if piece != "" {
		p.sum.Write([]byte(piece))
		p.cuts = append(p.cuts, len(p.text))
	}
	p.wake()
}

// reset is the failure of pieces that cannot go on.
func (p *Numbered) reset(why string) *door.Reason {
	return &door.Reason{Code: "reset", Message: why + "; read the result of the run at /v1/runs/" + string(p.Run)}
}

// complete ends the pieces of an answer that did not fail.
func (p *Numbered) complete(op *transcript.Op) {
	p.mu.Lock()
	p.reason = op.Run.Ending().Reason
	p.mu.Unlock()
	p.stop(nil)
}

// stop ends the pieces and the reading of the run.
func (p *Numbered) stop(failed *door.Reason) {
	p.End(failed)
	p.Over = true
}

// wake wakes readers that wait for more. mu must be held.
func (p *Numbered) wake() {
	close(p.more)
	p.more = make(chan struct{})
}

// Read fills p with the run, from the question answered on, until the answer ends or ctx is done.
func (p *Numbered) Read(ctx context.Context, d *door.Door, run messages.RunID, answered string) {
	p.Run, p.Seen = run, answered
	if p.owed != nil && p.owed.length() > p.most {
		p.End(p.reset("what was sent of the text is not stored"))
		return
	}
	if err := door.Fold(ctx, d, &dialect, p); err != nil {
		p.End(door.Unread(err))
	}
}

// End marks the pieces as ended, with the reason if the run failed. It does nothing if they have ended already.
func (p *Numbered) End(failed *door.Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(failed)
}

// end is End. mu must be held.
func (p *Numbered) end(failed *door.Reason) {
	if p.ended {
		return
	}
	if failed == nil && p.owed != nil {
		failed = p.reset("the text was taken back")
	}
	p.ended, p.failed = true, failed
	p.wake()
}

// Ended reports whether no more pieces come.
func (p *Numbered) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Batch holds the pieces from the number From on.
type Batch struct {
	From   int
	Pieces []string
	// Ended says that no more pieces come. Last says that this is the first batch to say so.
	Ended, Last bool
	Failed      *door.Reason
	Reason      model.Reason // why the answer ended, if it did not fail
}

// next returns the batch that begins at from, and a channel that is closed when there is more.
func (p *Numbered) next(from int) (b Batch, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b = Batch{From: from, Ended: p.ended, Last: p.ended && (from <= len(p.cuts) || p.owed != nil), Failed: p.failed, Reason: p.reason}
	for i := from; i < len(p.cuts); i++ {
		begin := 0
		if i > 0 {
			begin = p.cuts[i-1]
		}
		b.Pieces = append(b.Pieces, string(p.text[begin:p.cuts[i]]))
	}
	return b, p.more
}

// Follow calls got with each batch that begins at from or later. It returns when got returns false, when the pieces
// have ended, or when ctx is done.
func (p *Numbered) Follow(ctx context.Context, from int, got func(Batch) bool) {
	for {
		b, more := p.next(from)
		from += len(b.Pieces)
		if (len(b.Pieces) > 0 || b.Ended) && !got(b) || b.Ended {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}
