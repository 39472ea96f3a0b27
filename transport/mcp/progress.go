package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
)

// progress reports a call's progress to the client. The numbers of its notifications strictly increase. If nothing was
// sent for a while, it sends a heartbeat. [door.Heartbeats] serialize the writes.
type progress struct {
	token  json.RawMessage
	notify func(place, method string, params any) error
	beats  *door.Heartbeats
	last   float64 // the number of the last notification other than a heartbeat
	step   float64 // the next one is greater by this at least
	silent int     // the number of heartbeats so far
}

// progressParams are the parameters of notifications/progress.
type progressParams struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    float64         `json:"total,omitempty"`
	Message  string          `json:"message,omitempty"`
	Meta     map[string]any  `json:"_meta,omitempty"`
}

// tokenBytes is the maximum length of a progress token in bytes, because every notification repeats it.
const tokenBytes = 1 << 10

// newProgress starts the heartbeats, with numbers after the given one, in a step above it. Without a token nothing is sent.
func newProgress(d *door.Door, token json.RawMessage, notify func(place, method string, params any) error, after, step float64) *progress {
	p := &progress{token: token, notify: notify, last: after, step: step}
	p.beats = d.Heartbeats(context.Background(), new(door.Unbuffered), p.beat, func(error) {})
	if len(token) == 0 || len(token) > tokenBytes {
		p.stop()
	}
	return p
}

func (p *progress) write(place string, number float64, message string, meta map[string]any) error {
	return p.notify(place, "notifications/progress", progressParams{Token: p.token, Progress: number, Message: message, Meta: meta})
}

// beat sends a heartbeat. Its number lies between the last event's and the next one's.
func (p *progress) beat() {
	p.silent++
	_ = p.write("", p.last+p.step-p.step/float64(p.silent+1), "still working", nil) // the next event notices an error
}

// stop ends the heartbeats. When it returns, nothing more will be sent.
func (p *progress) stop() { p.beats.Stop() }

// eventKey is the key in _meta of the complete event.
const eventKey = vendor + "event"

// event sends an event, and the place at which the client can resume after it. After a failed write it sends nothing
// more.
func (p *progress) event(e messages.Event, place string) {
	_ = p.beats.Do(func() (done bool, err error) {
		p.last = float64(e.Seq)
		err = p.write(place, p.last, cmp.Or(e.Message, bodyInShort(e.Body), string(e.Kind())), map[string]any{eventKey: e})
		return err != nil, err
	})
}

// bodyInShort returns the text to show for an event, or "" if there is none.
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

// counted formats progress. total is 0 if unknown.
func counted(done, total int64, unit string) string {
	if total > 0 {
		return strings.TrimSpace(fmt.Sprintf("%d/%d %s", done, total, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", done, unit))
}
