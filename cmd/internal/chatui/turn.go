package chatui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	phrases "github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// turn is the display of a run. up holds what is finished; the rest is live.
type turn struct {
	redact  func(string) string
	columns int
	state   messages.State
	player  *transcript.Player[*turn]
	up      []line                      // finished lines that were not printed yet
	last    kind                        // the kind of the last line above
	printed map[*transcript.Item]string // the part of each answer that is in up or above
	begun   map[*transcript.Item]time.Time
	asked   time.Time // when the model was last asked
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
	t := &turn{redact: redact, columns: columns, printed: map[*transcript.Item]string{}, begun: map[*transcript.Item]time.Time{}}
	t.player = screen.Player(t)
	return t
}

// screen says what goes up. What is live is drawn from the State and the items.
var screen = &transcript.Dialect[*turn]{Rewind: (*turn).grown, Table: transcript.Table[*turn]{
	transcript.Run:      {transcript.Update: (*turn).changed, transcript.End: (*turn).end},
	transcript.Text:     {transcript.Append: (*turn).grown, transcript.Done: (*turn).grown},
	transcript.Thought:  {transcript.Append: (*turn).think, transcript.Done: (*turn).thought},
	transcript.Tool:     {transcript.Open: (*turn).called, transcript.Done: (*turn).ended},
	transcript.Question: {transcript.Done: (*turn).answered},
	transcript.Notice:   {transcript.Open: (*turn).noticed},
}}

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
	state, err := t.state.Apply(e)
	if err != nil {
		return err
	}
	t.state = state
	t.player.Play(e)
	return nil
}

// changed notes what the model is asked, and shows warnings and errors of the log.
func (t *turn) changed(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.LLMStarted:
		t.asked, t.asking = op.Event.Time, op.Event.Message
	case messages.LLMCompleted:
		t.asking = ""
	case messages.Log:
		for _, l := range b.Lines {
			if l.Level == messages.LogWarn || l.Level == messages.LogError {
				t.remark(warned, "%s", l.Text)
			}
		}
	}
}

// noticed shows what the turn goes without.
func (t *turn) noticed(op *transcript.Op) {
	t.remark(warned, "%s", op.Item.Opened.(messages.Notice).Text)
}

// think notes when a thought began.
func (t *turn) think(op *transcript.Op) {
	if _, streamed := op.Event.Body.(messages.ThoughtDelta); streamed && t.begun[op.Item].IsZero() {
		t.begun[op.Item] = op.Event.Time
	}
}

// thought tells how long a thought took. The thought itself is shown on request.
func (t *turn) thought(op *transcript.Op) {
	took := "thought"
	if begun := t.begun[op.Item]; !begun.IsZero() {
		took = "thought for " + terminal.Elapsed(op.Event.Time.Sub(begun))
	}
	if !op.Cut {
		t.remark(faint, "%s; Ctrl-O shows it", took)
	}
}

// grown moves the finished part of an answer to up.
func (t *turn) grown(op *transcript.Op) {
	item := op.Item
	if !item.IsAnswer() {
		return
	}
	rest, goesOn := t.rest(item)
	if !goesOn {
		t.printed[item] = ""
		t.remark(warned, "what stands above is withdrawn; again:")
	}
	n := settled(rest)
	if item.Closed {
		n = len(rest)
	}
	if n == 0 {
		return
	}
	t.printed[item] += rest[:n]
	if lines := markdown(clean(rest[:n]), t.columns); len(lines) > 0 {
		t.add(words, lines...)
	}
}

// rest returns the part of an answer that is not above, or all of it if the text above is not valid any more.
func (t *turn) rest(item *transcript.Item) (rest string, goesOn bool) {
	return strings.CutPrefix(t.redact(item.Text()), t.printed[item])
}

// called notes when a call began.
func (t *turn) called(op *transcript.Op) { t.begun[op.Item] = op.Event.Time }

// ended shows that a tool has ended, with its time and its error.
func (t *turn) ended(op *transcript.Op) {
	if op.Cut {
		return
	}
	sign, how, l := "✓ ", "", good
	if _, failed := op.Item.Result(); failed != "" {
		sign, how, l = "✗ ", ": "+failed, bad
	}
	took := terminal.Elapsed(op.Event.Time.Sub(t.begun[op.Item]))
	row := line{{clean(t.redact(name(op.Item))), plain}, {" · " + took, faint}, {oneLine(t.redact(how)), plain}}
	t.add(tools, prefixed(wrap(row, t.columns-2), piece{sign, l}, piece{text: "  "})...)
}

// answered shows a question with its answer.
func (t *turn) answered(op *transcript.Op) {
	for _, q := range t.state.Inputs {
		if q.Request == op.Item.Name && !op.Cut {
			t.remark(faint, "? %s → %s", phrases.Clip(q.Prompt, 200), said(q)) // the whole prompt was shown already
		}
	}
}

// end shows how the run ended, unless its answer shows that.
func (t *turn) end(*transcript.Op) {
	switch end := t.state.End; {
	case t.state.Status == messages.Canceled:
		t.remark(faint, "canceled")
	case t.state.Status == messages.Failed:
		t.remark(bad, "failed (%s): %s", end.Cause, end.Error.Message)
		if hint := terminal.Hint(t.state, terminal.Model); hint != "" && end.Cause == messages.CauseTransportClosed {
			t.remark(faint, "%s", hint)
		}
	case end.Degraded:
		t.remark(warned, "degraded: %s", terminal.WhyDegraded(t.state))
	}
}

// thoughts returns everything that the model has thought.
func (t *turn) thoughts() (out []line) {
	for _, item := range t.player.Items() {
		if item.Kind == transcript.Thought {
			out = append(out, nil)
			out = append(out, wrap([]piece{{clean(t.redact(strings.TrimSpace(item.Text()))), faint}}, t.columns)...)
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
	for _, item := range slices.Backward(t.player.Items()) {
		if item.IsAnswer() {
			rest, _ := t.rest(item)
			return markdown(clean(rest), t.columns)
		}
	}
	return nil
}

// thinking returns the thought that is under way, or nil.
func (t *turn) thinking() *transcript.Item {
	for _, item := range t.player.Items() {
		if item.Kind == transcript.Thought && !item.Closed {
			return item
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
	for _, item := range t.player.Items() {
		if item.Kind == transcript.Tool && !item.Closed {
			far := ""
			if p, _ := item.Latest.(messages.ToolProgress); p.Done > 0 || p.Total > 0 {
				far = " · " + oneLine(terminal.HowFar(p.Done, p.Total, p.Unit))
			}
			row(name(item), t.begun[item], far)
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
		row("thinking", t.begun[thought], "")
	case t.asking != "" && len(t.open()) == 0:
		row(t.asking, t.asked, "")
	}
	return out
}

// name returns a call's tool, and the values of its arguments in a few words.
func name(item *transcript.Item) string {
	tool, arguments := item.Call()
	var object map[string]any
	_ = json.Unmarshal(arguments, &object) // if it is no object, there are no values
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if value, ok := object[key].(string); ok {
			b.WriteString(" " + value)
		} else {
			value, _ := json.Marshal(object[key]) // it was decoded from JSON
			fmt.Fprintf(&b, " %s=%s", key, value)
		}
	}
	return tool + oneLine(phrases.Clip(b.String(), 60))
}

// oneLine returns the text without line breaks.
func oneLine(text string) string { return terminal.Flat(text) }
