package terminal

import (
	"cmp"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// lines shows a run with one line per milestone and per warning in its log: the time since the run was queued, the
// kind, and the message.
type lines struct {
	out    io.Writer
	style  style
	logged uint64 // number of the last log line that was handled
	reason string // why the last model call failed
}

// Show prints a milestone. It prints the failure of a model call only if the run goes on after it.
func (p *lines) Show(s messages.State, e messages.Event) {
	p.warn(s, e)
	if e.IsDelta() {
		return
	}
	switch b := e.Body.(type) {
	case messages.LLMStarted:
		if p.reason != "" { // the run continues, and its end will not mention this failure
			p.line(since(s.QueuedAt, e.Time), string(messages.LogWarn), yellow, words.Printable(p.reason))
		}
		p.reason = ""
	case messages.LLMCompleted:
		if b.Error != nil {
			p.reason = b.Error.Message
		}
	}
	text := words.Printable(milestone(s, e))
	p.line(since(s.QueuedAt, e.Time), string(e.Kind()), cmp.Or(kindColors[e.Kind()], cyan), text)
}

// milestone returns the event's message, without the reason of a failure, which the card at the end has.
func milestone(s messages.State, e messages.Event) string {
	switch b := e.Body.(type) {
	case messages.RunCanceling:
		if interrupted(b) {
			return e.Message + "; Ctrl-C leaves at once"
		}
	case messages.LLMCompleted:
		if b.Error != nil {
			return cmp.Or(b.Model, "the model") + " " + b.Verdict
		}
	case messages.TaskFailed:
		return b.Task + " failed"
	case messages.RunFailed:
		return s.Queued.Job + " failed"
	}
	return e.Message
}

// warn prints new warnings and errors of the run's log.
func (p *lines) warn(s messages.State, e messages.Event) {
	for _, l := range s.Log.Lines {
		if l.Number > p.logged && (l.Level == messages.LogWarn || l.Level == messages.LogError) {
			p.line(since(s.QueuedAt, e.Time), string(l.Level), yellow, words.Printable(l.Text))
		}
		p.logged = max(p.logged, l.Number)
	}
}

func (p *lines) line(at, kind string, colour color, text string) {
	at, kind = fmt.Sprintf("%9s", at), fmt.Sprintf("%-16s", kind)
	fmt.Fprintf(p.out, "%s  %s  %s\n", p.style.paint(at, dim), p.style.paint(kind, colour), text)
}

// kindColors are the colors of kinds of events; all others are cyan.
var kindColors = map[messages.Kind]color{messages.KindRunFailed: red, messages.KindTaskFailed: red, messages.KindRunCanceling: yellow,
	messages.KindRunCanceled: yellow, messages.KindTaskRestarted: yellow, messages.KindRunCompleted: green}

func (*lines) End() {}

func (*lines) Leave() {}

// Silent shows nothing.
type Silent struct{}

func (Silent) Show(messages.State, messages.Event) {}

func (Silent) End() {}

func (Silent) Leave() {}
