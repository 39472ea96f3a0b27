package mcp

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// StreamOptions select the events that a call streams as progress. The terminal event belongs to the result.
type StreamOptions struct {
	Level string          `json:"level"` // milestone leaves out deltas
	Kinds []messages.Kind `json:"kinds"` // empty means all
	Rate  float64         `json:"rate"`  // most deltas a second; 0 means all
}

// StreamArguments are the properties of StreamOptions in the schema of a tool.
const StreamArguments = `"level":{"type":"string","enum":["milestone","delta"],"description":"delta: pieces, too"},` +
	`"kinds":{"type":"array","items":{"type":"string"},"description":"of events"},` +
	`"rate":{"type":"number","description":"a second"}`

// optionsKey is the context key of the StreamOptions of a call.
type optionsKey struct{}

// In returns the context of a call with the options.
func (o StreamOptions) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, optionsKey{}, o)
}

// Check returns an error (invalid_input) for a negative rate, and for a kind that does not exist.
func (o StreamOptions) Check() error {
	if o.Rate < 0 {
		return messages.InvalidInput("rate is the most deltas a second, and must not be negative")
	}
	for _, kind := range o.Kinds {
		if !kind.Known() {
			return messages.InvalidInput("there is no kind %.100q of events; name one such as text.delta", kind)
		}
	}
	return nil
}

// questions are the kinds that a stream always reads, because a question may end it.
var questions = []messages.Kind{messages.KindInputRequired, messages.KindInputReceived}

func (o StreamOptions) follow(after uint64) messages.FollowOptions {
	f := messages.FollowOptions{After: after, Rate: o.Rate, Filter: messages.Filter{MilestonesOnly: o.Level == "milestone"}}
	if len(o.Kinds) > 0 {
		f.Filter.Kinds = slices.Concat(o.Kinds, questions)
	}
	return f
}

// shows reports whether the client wants an event that the filter has passed.
func (o StreamOptions) shows(e messages.Event) bool {
	return e.Body != nil && (len(o.Kinds) == 0 || slices.Contains(o.Kinds, e.Kind()) || !slices.Contains(questions, e.Kind()))
}

// text returns the options as a part of an event's id, or "".
func (o StreamOptions) text() string {
	if o.Level == "" && len(o.Kinds) == 0 && o.Rate == 0 {
		return ""
	}
	v := url.Values{"level": {o.Level}, "rate": {strconv.FormatFloat(o.Rate, 'g', -1, 64)}}
	for _, kind := range o.Kinds {
		v.Add("kind", string(kind))
	}
	return "?" + v.Encode()
}

// parseOptions parses what text has returned.
func parseOptions(text string) (o StreamOptions) {
	v, _ := url.ParseQuery(strings.TrimPrefix(text, "?")) // it is our own, or the whole place is not valid
	o.Level = v.Get("level")
	o.Rate, _ = strconv.ParseFloat(v.Get("rate"), 64)
	for _, kind := range v["kind"] {
		o.Kinds = append(o.Kinds, messages.Kind(kind))
	}
	return o
}
