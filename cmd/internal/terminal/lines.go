package terminal

import (
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/messages"
)

// lines shows a run as one line per milestone, and per warning of its log: the time since the run was queued, the
// kind, the message.
type lines struct {
	out    io.Writer
	style  style
	logged uint64 // number of the last log line that was looked at
}

func (p *lines) Show(s messages.State, e messages.Event) {
	p.warn(s, e)
	if e.IsDelta() {
		return
	}
	text := Printable(e.Message)
	if body, ok := e.Body.(messages.RunCanceling); ok && interrupted(body) {
		text += "; Ctrl-C leaves at once"
	}
	p.line(since(s.QueuedAt, e.Time), string(e.Kind()), kindColor(e.Kind()), text)
}

func (p *lines) warn(s messages.State, e messages.Event) {
	for _, l := range s.Log.Lines {
		if l.Number > p.logged && (l.Level == messages.LogWarn || l.Level == messages.LogError) {
			p.line(since(s.QueuedAt, e.Time), string(l.Level), yellow, Printable(l.Text))
		}
		p.logged = max(p.logged, l.Number)
	}
}

func (p *lines) line(at, kind string, colour color, text string) {
	at, kind = fmt.Sprintf("%9s", at), fmt.Sprintf("%-16s", kind)
	fmt.Fprintf(p.out, "%s  %s  %s\n", p.style.paint(at, dim), p.style.paint(kind, colour), text)
}

func kindColor(k messages.Kind) color {
	switch k {
	case messages.KindRunFailed, messages.KindTaskFailed:
		return red
	case messages.KindRunCanceling, messages.KindRunCanceled, messages.KindTaskRestarted:
		return yellow
	case messages.KindRunCompleted:
		return green
	}
	return cyan
}

func (*lines) End() {}

func (*lines) Leave() {}

// silent shows nothing.
type silent struct{}

func (silent) Show(messages.State, messages.Event) {}

func (silent) End() {}

func (silent) Leave() {}
