package chatui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	phrases "github.com/seed889630bf/lastword/messages/words"
)

// turn is the display of a run. up holds what is finished; the rest is live.
type turn struct {
	redact  func(string) string
	columns int
	state   messages.State
	up      []line            // finished lines that were not printed yet
	last    kind              // the kind of the last line above
	printed map[string]string // the part of each answer that is in up or above
	begun   map[string]time.Time
	called  map[string]string // tools with their arguments, by call
	asked   time.Time         // when the model was last asked
	asking  string
}

// kind is the kind of a line. Lines of tools follow each other directly; other kinds are separated by an empty line.
type kind int

const (
	words kind = iota
	tools
	remarks
)

func newTurn(redact func(string) string, columns int) *turn {
	return &turn{redact: redact, columns: columns, printed: map[string]string{}, begun: map[string]time.Time{},
		called: map[string]string{}}
}

// add adds finished lines. A blank line separates paragraphs and different kinds.
func (t *turn) add(k kind, lines ...line) {
	if k == words || k != t.last {
		t.up = append(t.up, nil)
	}
	t.up, t.last = append(t.up, lines...), k
}

func (t *turn) remark(l look, format string, args ...any) {
	t.add(remarks, wrap([]piece{{clean(t.redact(fmt.Sprintf(format, args...))), l}}, t.columns)...)
}

// see handles the run's next event.
func (t *turn) see(e messages.Event) error {
	now := e.Time
	state, err := t.state.Apply(e)
	if err != nil {
		return err
	}
	t.state = state
	t.answers(state.End != nil)
	switch b := e.Body.(type) {
	case messages.LLMStarted:
		t.asked, t.asking = now, e.Message
	case messages.LLMCompleted:
		t.asking = ""
	case messages.ThoughtDelta:
		t.think(b.Stream, now)
	case messages.ThoughtDone:
		t.thought(b, now)
	case messages.Merged:
		for _, part := range b.Parts {
			switch p := part.(type) {
			case messages.ThoughtDelta:
				t.think(p.Stream, now)
			case messages.Log:
				t.log(p)
			}
		}
	case messages.ToolStarted:
		t.begun[b.Call], t.called[b.Call] = now, b.Tool+summary(b.Arguments)
	case messages.ToolCompleted:
		t.ended(b, now)
	case messages.InputReceived:
		t.answered(b)
	case messages.Log:
		t.log(b)
	case messages.RunCompleted, messages.RunFailed, messages.RunCanceled:
		t.end()
	}
	return nil
}

// log shows warnings and errors only.
func (t *turn) log(b messages.Log) {
	for _, l := range b.Lines {
		if l.Level == messages.LogWarn || l.Level == messages.LogError {
			t.remark(warned, "%s", l.Text)
		}
	}
}

// think notes when a thought began.
func (t *turn) think(stream string, now time.Time) {
	if t.begun[stream].IsZero() {
		t.begun[stream] = now
	}
}

// thought tells how long a thought took. The thought itself is shown on request.
func (t *turn) thought(b messages.ThoughtDone, now time.Time) {
	took := "thought"
	if begun := t.begun[b.Stream]; !begun.IsZero() {
		took = "thought for " + terminal.Elapsed(now.Sub(begun))
	}
	t.remark(faint, "%s; Ctrl-O shows it", took)
}

// answers moves finished parts of answers to up. all moves everything.
func (t *turn) answers(all bool) {
	for _, s := range t.state.Streams {
		if s.Thought || !call.IsAnswer(s.Name) {
			continue
		}
		rest, back := t.rest(s)
		if back {
			t.remark(warned, "what stands above is withdrawn; again:")
		}
		n := settled(rest)
		if s.Closed || all {
			n = len(rest)
		}
		if n == 0 {
			continue
		}
		t.printed[s.Name] += rest[:n]
		if lines := markdown(clean(rest[:n]), t.columns); len(lines) > 0 {
			t.add(words, lines...)
		}
	}
}

// rest returns the part of an answer that is not above. back says that the text above is not valid any more.
func (t *turn) rest(s messages.Stream) (rest string, back bool) {
	text := t.redact(s.Text())
	rest, goesOn := strings.CutPrefix(text, t.printed[s.Name])
	if !goesOn {
		t.printed[s.Name] = ""
		return text, true
	}
	return rest, false
}

// ended shows that a tool has ended, with its time and its error.
func (t *turn) ended(b messages.ToolCompleted, now time.Time) {
	sign, how, l := "✓ ", "", good
	if b.Error != nil {
		sign, how, l = "✗ ", ": "+b.Error.Message, bad
	}
	took := terminal.Elapsed(now.Sub(t.begun[b.Call]))
	name := clean(t.redact(t.called[b.Call]))
	row := line{{name, plain}, {" · " + took, faint}, {oneLine(t.redact(how)), plain}}
	t.add(tools, prefixed(wrap(row, t.columns-2), piece{sign, l}, piece{text: "  "})...)
}

// answered shows a question with its answer.
func (t *turn) answered(b messages.InputReceived) {
	for _, q := range t.state.Inputs {
		if q.Request == b.Request {
			t.remark(faint, "? %s → %s", phrases.Clip(q.Prompt, 200), said(q)) // the whole prompt was shown already
		}
	}
}

// end shows how the run ended, unless its answer shows that.
func (t *turn) end() {
	switch end := t.state.End; {
	case t.state.Status == messages.Canceled:
		t.remark(faint, "canceled")
	case t.state.Status == messages.Failed:
		t.remark(bad, "failed (%s): %s", end.Cause, end.Error.Message)
		if hint := terminal.Hint(t.state); hint != "" && end.Cause == messages.CauseTransportClosed {
			t.remark(faint, "%s", hint)
		}
	case end.Degraded:
		t.remark(warned, "degraded: %s", terminal.WhyDegraded(t.state))
	}
}

// thoughts returns everything that the model has thought.
func (t *turn) thoughts() (out []line) {
	for _, s := range t.state.Streams {
		if s.Thought {
			out = append(out, nil)
			out = append(out, wrap([]piece{{clean(t.redact(strings.TrimSpace(s.Text()))), faint}}, t.columns)...)
		}
	}
	return out
}

// question returns the oldest question that waits for an answer, or nil.
func (t *turn) question() *messages.Input {
	for i := range t.state.Inputs {
		if !t.state.Inputs[i].Closed {
			return &t.state.Inputs[i]
		}
	}
	return nil
}

// live returns what still changes, in at most the given number of rows.
func (t *turn) live(now time.Time, rows int, spin string) (out []line) {
	open := t.open()
	if thought := t.thinking(); thought != nil && len(open) == 0 {
		lines := wrap([]piece{{clean(t.redact(thought.Text())), faint}}, t.columns)
		open = lines[max(0, len(lines)-3):]
	}
	running := t.running(now, spin)
	if room := max(rows-len(running)-1, 1); len(open) > room {
		open = open[len(open)-room:]
	}
	if len(open) > 0 {
		out = append(append(out, nil), open...)
	}
	if len(running) > 0 {
		out = append(append(out, nil), running...)
	}
	return out[:min(len(out), rows)]
}

// open returns the block of the answer that is being written.
func (t *turn) open() []line {
	for _, s := range slices.Backward(t.state.Streams) {
		if !s.Thought && call.IsAnswer(s.Name) {
			rest, _ := strings.CutPrefix(t.redact(s.Text()), t.printed[s.Name])
			return markdown(clean(rest), t.columns)
		}
	}
	return nil
}

// thinking returns the thought that is under way, or nil.
func (t *turn) thinking() *messages.Stream {
	for i := range t.state.Streams {
		if s := &t.state.Streams[i]; s.Thought && !s.Closed {
			return s
		}
	}
	return nil
}

// running returns what the run waits for, with the elapsed time.
func (t *turn) running(now time.Time, spin string) (out []line) {
	row := func(what string, since time.Time, how string) {
		l := line{{spin + " ", code}, {oneLine(t.redact(what)), plain}, {" · " + terminal.Elapsed(now.Sub(since)) + how, faint}}
		out = append(out, l.fit(t.columns))
	}
	for _, c := range t.state.Calls {
		if !c.Ended && !c.Model {
			far := ""
			if p := c.Progress; p.Done > 0 || p.Total > 0 {
				far = " · " + oneLine(terminal.HowFar(p.Done, p.Total, p.Unit))
			}
			row(t.called[c.ID], t.begun[c.ID], far)
		}
	}
	switch thought := t.thinking(); {
	case t.question() != nil:
		if len(out) == 1 {
			return nil // the call is asking the question
		}
	case t.state.Canceling:
		row("canceling", t.state.UpdatedAt, "")
	case thought != nil:
		row("thinking", t.begun[thought.Name], "")
	case t.asking != "" && len(t.open()) == 0:
		row(t.asking, t.asked, "")
	}
	return out
}

// summary returns the values of arguments in a few words.
func summary(arguments json.RawMessage) string {
	var object map[string]any
	if json.Unmarshal(arguments, &object) != nil {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if value, ok := object[name].(string); ok {
			b.WriteString(" " + value)
		} else {
			value, _ := json.Marshal(object[name]) // it was decoded from JSON
			fmt.Fprintf(&b, " %s=%s", name, value)
		}
	}
	return oneLine(phrases.Clip(b.String(), 60))
}

// oneLine returns the text without line breaks.
func oneLine(text string) string { return terminal.Flat(text) }
