package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// progress tells a client how a call gets on: notifications whose numbers strictly increase, and no silence longer
// than a heartbeat. One without a token says nothing. After stop it says nothing more.
type progress struct {
	token  json.RawMessage
	notify func(place, method string, params any) error
	every  time.Duration

	mu    sync.Mutex // held while something is written, so that nothing overtakes
	last  float64    // the number of the last notification that was no heartbeat
	beats int        // heartbeats so far
	timer *time.Timer
	over  bool
}

// progressParams are those of notifications/progress.
type progressParams struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Message  string          `json:"message,omitempty"`
	Meta     map[string]any  `json:"_meta,omitempty"`
}

// newProgress begins after the number: heartbeats come from then on.
func newProgress(token json.RawMessage, notify func(place, method string, params any) error, every time.Duration, after uint64) *progress {
	p := &progress{token: token, notify: notify, every: every, last: float64(after)}
	if p.over = !isToken(token); p.over {
		return p
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(every, p.beat)
	return p
}

// tokenBytes is the most bytes of a progress token: every notification repeats it.
const tokenBytes = 1 << 10

// isToken reports whether the token is a string or a number, as the protocol has them, that may be repeated.
func isToken(token json.RawMessage) bool {
	if len(token) == 0 || len(token) > tokenBytes {
		return false
	}
	return token[0] == '"' || token[0] == '-' || token[0] >= '0' && token[0] <= '9'
}

func (p *progress) write(place string, params progressParams) {
	if p.over = p.notify(place, "notifications/progress", params) != nil; !p.over {
		p.timer.Reset(p.every)
	}
}

// beat says that there is nothing to say.
func (p *progress) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.beats++
	p.write("", progressParams{Token: p.token, Progress: p.last + fraction(p.beats), Message: "still working"})
}

// fraction is a number between 0 and 1 that grows with n for ever.
func fraction(n int) float64 {
	if n < 1000 {
		return float64(n) / 1000
	}
	return 1 - 1/float64(n+1)
}

// stop returns once nothing more will be said.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.over = true
		p.timer.Stop()
	}
}

// eventKey is the key in _meta of a whole event.
const eventKey = Vendor + "event"

// event tells the event whole, and where to go on after it. It writes nothing more to a client that has left.
func (p *progress) event(e messages.Event, place string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.last = float64(e.Seq)
	p.write(place, progressParams{p.token, p.last, inShort(e), map[string]any{eventKey: e}})
}

// inShort is the event in a few words for people.
func inShort(e messages.Event) string {
	if e.Message != "" {
		return e.Message
	}
	if text := bodyInShort(e.Body); text != "" {
		return text
	}
	return string(e.Kind())
}

func bodyInShort(body messages.Body) string {
	switch b := body.(type) {
	case messages.TextDelta:
		return words.Clip(b.Text, 120)
	case messages.ThoughtDelta:
		return words.Clip(b.Text, 120)
	case messages.Progress:
		return b.Task + ": " + counted(b.Done, b.Total, b.Unit)
	case messages.ToolProgress:
		return counted(b.Done, b.Total, b.Unit)
	case messages.Log:
		if n := len(b.Lines); n > 0 {
			return words.Clip(b.Lines[n-1].Text, 120)
		}
	case messages.Merged:
		if n := len(b.Parts); n > 0 {
			return bodyInShort(b.Parts[n-1])
		}
	}
	return ""
}

func counted(done, total int64, unit string) string {
	if total > 0 {
		return strings.TrimSpace(fmt.Sprintf("%d/%d %s", done, total, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", done, unit))
}
