package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// lines shows a run with one line per milestone and per warning in its log: the time since the run was queued, the
// kind, and the message. With program, the other lines of the log are what a program wrote to stderr.
type lines struct {
	program bool
	out     io.Writer
	style   style
	player  *transcript.Player[*lines]
	state   messages.State
	event   messages.Event
	told    uint64 // number of the last milestone that was printed
	logged  uint64 // number of the last log line that was handled
	missing uint64 // lines that the log had dropped before those held back
	held    []string
	whole   bool   // what the program wrote to stderr comes from its text
	open    bool   // the last line of it is not ended
	reason  string // why the last model call failed
}

func newLines(out io.Writer, l style) *lines {
	p := &lines{out: out, style: l}
	p.player = milestones.Player(p)
	p.player.Lean = true
	return p
}

// Show prints what the event tells.
func (p *lines) Show(s messages.State, e messages.Event) {
	p.state, p.event = s, e
	p.player.Play(e)
}

// milestones prints whatever happens to an item of whatever kind, if a milestone tells it.
var milestones = &transcript.Dialect[*lines]{Table: transcript.Each((*lines).tell)}

// tell prints the line of a milestone, which may be several operations, and the warnings of a log. It prints the
// failure of a model call only if the run goes on after it.
func (p *lines) tell(op *transcript.Op) {
	if l, ok := op.Event.Body.(messages.Log); ok {
		p.warn(l)
	} else if op.Do == transcript.Append && messages.IsStderr(op.Item.Name) {
		p.text(op.Text)
	}
	e := p.event
	if op.Cut || e.IsDelta() || e.Seq == p.told {
		return
	}
	p.told = e.Seq
	p.release()
	switch b := e.Body.(type) {
	case messages.LLMStarted:
		if p.reason != "" { // the run continues, and its end will not mention this failure
			p.line(string(messages.LogWarn), yellow, p.reason)
		}
		p.reason = ""
	case messages.LLMCompleted:
		if b.Error != nil {
			p.reason = b.Error.Message
		}
	}
	if text := milestone(p.state, e); text != "" {
		p.line(string(e.Kind()), cmp.Or(kindColors[e.Kind()], cyan), text)
	}
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

// warn prints new warnings and errors of the run's log, and what its program wrote to stderr. A late reader gets the
// newest lines alone: they are held back, because the text of stderr may follow, which has all.
func (p *lines) warn(log messages.Log) {
	for _, l := range log.Lines {
		if l.Number <= p.logged {
			continue
		}
		p.missing += l.Number - p.logged - 1
		switch p.logged = l.Number; {
		case l.Level == messages.LogWarn || l.Level == messages.LogError:
			p.line(string(l.Level), yellow, l.Text)
		case p.program && !p.whole:
			if p.held = append(p.held, l.Text); p.missing == 0 {
				p.release()
			}
		}
	}
}

// text prints a piece of the text of stderr in place of lines that the log has dropped.
func (p *lines) text(piece string) {
	if p.program && (p.whole || p.missing > 0) {
		p.whole, p.held, p.missing = true, nil, 0
		if !p.open {
			fresh(p.out)
		}
		_, _ = io.WriteString(p.out, piece)
		p.open = !strings.HasSuffix(piece, "\n")
	}
}

// release prints the lines that were held back, since no text of stderr has followed.
func (p *lines) release() {
	if p.missing > 0 && p.program && !p.whole {
		p.line(string(messages.LogInfo), dim, words.Count(int64(p.missing), "line")+" of stderr are no longer kept")
	}
	for _, text := range p.held {
		fresh(p.out)
		fmt.Fprintln(p.out, text)
	}
	p.held, p.missing = nil, 0
}

func (p *lines) line(kind string, colour color, text string) {
	p.End()
	fresh(p.out)
	at, kind := fmt.Sprintf("%9s", since(p.state.QueuedAt, p.event.Time)), fmt.Sprintf("%-16s", kind)
	fmt.Fprintf(p.out, "%s  %s  %s\n", p.style.paint(at, dim), p.style.paint(kind, colour), words.Printable(text))
}

// kindColors are the colors of kinds of events; all others are cyan.
var kindColors = map[messages.Kind]color{messages.KindRunFailed: red, messages.KindTaskFailed: red, messages.KindRunCanceling: yellow,
	messages.KindRunCanceled: yellow, messages.KindTaskRestarted: yellow, messages.KindNotice: yellow, messages.KindRunCompleted: green}

// End ends the last line of stderr.
func (p *lines) End() {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
}

func (*lines) Leave() {}

// Noticing shows alone what a run goes without.
type Noticing struct {
	Silent
	Out io.Writer
}

// Show prints a notice.
func (n Noticing) Show(_ messages.State, e messages.Event) {
	if b, ok := e.Body.(messages.Notice); ok {
		fmt.Fprintln(n.Out, "lastword:", words.Printable(b.Text))
	}
}

// Silent shows nothing.
type Silent struct{}

func (Silent) Show(messages.State, messages.Event) {}

func (Silent) End() {}

func (Silent) Leave() {}
