package door

import (
	"context"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Pieces are the answer of a run as numbered pieces of a text, for readers who can only append. A piece never changes
// once it is there, however the log is merged. If text is taken back, the pieces end with the failure reset, unless the
// next attempt says the same again.
type Pieces struct {
	most int

	mu     sync.Mutex
	seen   string // the question that the client has answered: what comes up to it is left out; "" is the beginning
	text   []byte
	cuts   []int // where each piece ends in the text
	ended  bool
	failed *Reason
	speech Speech
	more   chan struct{} // closed when there are more
}

// NewPieces returns pieces of at most so many bytes together.
func NewPieces(most int) *Pieces { return &Pieces{most: most, more: make(chan struct{})} }

// pieces is how a run is written: the texts of the answer, and the end. Under mu.
var pieces = transcript.Dialect[*Pieces]{Policy: transcript.Mark,
	Rewind: func(p *Pieces, op *transcript.Op) {
		if op.Item.IsAnswer() {
			p.end(&Reason{"reset", "the text was taken back; read the result of the run at /v1/runs/" + string(op.Event.RunID)})
		}
	},
	Table: transcript.Table[*Pieces]{
		transcript.Text: {transcript.Append: func(p *Pieces, op *transcript.Op) {
			if piece, ok := p.speech.Piece(op); ok && p.seen == "" {
				if len(p.text) == 0 {
					piece = strings.TrimLeft(piece, "\n")
				}
				p.add(piece)
			}
		}},
		transcript.Question: {transcript.Wait: (*Pieces).wait},
		transcript.Run: {transcript.End: func(p *Pieces, op *transcript.Op) {
			// A run without an answer has its result as the text.
			if b, ok := op.Event.Body.(messages.RunCompleted); ok && p.speech.Silent() {
				p.add(ResultText(b.Result))
			}
			p.end(Failure(op.Event.Body))
		}},
	}}

// wait ends with the question of a turn: what the client says next in its conversation answers it.
func (p *Pieces) wait(op *transcript.Op) {
	switch {
	case p.seen == op.Item.Name:
		p.seen = ""
	case p.seen == "" && op.Run.Queued.Labels[ContextLabel] != "":
		b := op.Item.Opened.(messages.InputRequired)
		asked := Prompt(b.Prompt, b.Schema)
		if len(p.text) > 0 {
			asked = "\n\n" + asked
		}
		p.add(asked)
		p.end(nil)
	}
}

// add adds a piece. Under mu.
func (p *Pieces) add(piece string) {
	switch {
	case p.ended || piece == "":
	case len(p.text)+len(piece) > p.most:
		p.end(&Reason{string(messages.CauseLimitExceeded), "the text is longer than a stream may be; read the run's result"})
	default:
		p.text = append(p.text, piece...)
		p.cuts = append(p.cuts, len(p.text))
	}
}

// end says that there are no more. Under mu.
func (p *Pieces) end(failed *Reason) {
	if !p.ended {
		p.ended, p.failed = true, failed
	}
}

// wake tells who waits for more. Under mu.
func (p *Pieces) wake() {
	close(p.more)
	p.more = make(chan struct{})
}

// Read reads a run, after the question that the client has answered, until the pieces end or ctx is done.
func (p *Pieces) Read(ctx context.Context, d *Door, run messages.RunID, answered string) {
	p.seen = answered
	player := pieces.Player(p)
	for events, err := range d.Runs.Follow(ctx, run, messages.Follow{}) {
		if err != nil {
			p.End(ReasonOf(err))
			return
		}
		if p.apply(player, events) {
			return
		}
	}
}

// apply adds what the events say, and reports whether there are no more pieces.
func (p *Pieces) apply(player *transcript.Player[*Pieces], events []messages.Event) (ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	had := len(p.cuts)
	for _, e := range events {
		if e.Body != nil && !p.ended {
			player.Play(e)
		}
	}
	if len(p.cuts) > had || p.ended {
		p.wake()
	}
	return p.ended
}

// End ends pieces that have not ended.
func (p *Pieces) End(failed *Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(failed)
	p.wake()
}

// Ended reports whether there are no more.
func (p *Pieces) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Part is what comes from a number on.
type Part struct {
	From   int
	Pieces []string
	// Ended says that there are no more, and Last that no part before has said so.
	Ended, Last bool
	Failed      *Reason
}

// next returns the part from the number on, and what is closed when there is more.
func (p *Pieces) next(from int) (part Part, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	part = Part{From: from, Ended: p.ended, Last: p.ended && from <= len(p.cuts), Failed: p.failed}
	for i := from; i < len(p.cuts); i++ {
		begin := 0
		if i > 0 {
			begin = p.cuts[i-1]
		}
		part.Pieces = append(part.Pieces, string(p.text[begin:p.cuts[i]]))
	}
	return part, p.more
}

// Follow calls got with what comes from the number on, until got returns false, the end, or until ctx is done.
func (p *Pieces) Follow(ctx context.Context, from int, got func(Part) bool) {
	for {
		part, more := p.next(from)
		from += len(part.Pieces)
		if (len(part.Pieces) > 0 || part.Ended) && !got(part) || part.Ended {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}
