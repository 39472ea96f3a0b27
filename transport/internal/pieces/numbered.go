package pieces

import (
	"context"
	"sync"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Numbered holds the answer of a run as numbered pieces of text, for readers that can only append. A published
// piece never changes, however the log is merged later. If the run takes text back, the pieces end with the failure "reset",
// unless the next attempt says the same text again.
//
// One goroutine calls [Numbered.Read]; any number may call the other methods. mu guards the fields below it.
type Numbered struct {
	door.SegmentWriter
	most   int // maximum bytes of all text
	speech door.Speech

	mu     sync.Mutex
	text   []byte
	cuts   []int // the end of each piece, as an offset in text
	ended  bool
	failed *door.Reason  // why the pieces ended early
	reason model.Reason  // why the answer ended, if the run completed or waits
	more   chan struct{} // closed and replaced when something is added
}

// NewNumbered returns empty Numbered that hold at most most bytes of text.
func NewNumbered(most int) *Numbered { return &Numbered{most: most, more: make(chan struct{})} }

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
	case anew:
		p.stop(&door.Reason{Code: "reset", Message: "the text was taken back; read the result of the run at /v1/runs/" + string(p.Run)})
	case len(p.text)+len(piece) > p.most:
		p.stop(&door.Reason{Code: string(messages.CauseLimitExceeded), Message: "the text is longer than a stream may be; read the run's result"})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended && piece != "" {
		p.text = append(p.text, piece...)
		p.cuts = append(p.cuts, len(p.text))
		p.wake()
	}
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
	if err := door.Fold(ctx, d, &dialect, p); err != nil {
		p.End(door.Unread(err))
	}
}

// End marks the pieces as ended, with the reason if the run failed. It does nothing if they have ended already.
func (p *Numbered) End(failed *door.Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended, p.failed = true, failed
		p.wake()
	}
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
	b = Batch{From: from, Ended: p.ended, Last: p.ended && from <= len(p.cuts), Failed: p.failed, Reason: p.reason}
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
