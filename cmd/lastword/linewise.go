package main

import (
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/messages"
)

// linewise shows a run as one line per milestone, and per warning of its log: the time since the run was queued, the
// kind, the message.
type linewise struct {
	out    io.Writer
	look   look
	warned uint64 // number of the last log line that was looked at
}

func (p *linewise) show(s messages.State, e messages.Event) {
	p.warn(s, e)
	if e.IsDelta() {
		return
	}
	text := printable(e.Message)
	if body, ok := e.Body.(messages.RunCanceling); ok && interrupted(body) {
		text += "; Ctrl-C leaves at once"
	}
	p.line(since(s.QueuedAt, e.Time), string(e.Kind()), told(e.Kind()), text)
}

func (p *linewise) warn(s messages.State, e messages.Event) {
	for _, l := range s.Log.Lines {
		if l.Number > p.warned && (l.Level == messages.LogWarn || l.Level == messages.LogError) {
			p.line(since(s.QueuedAt, e.Time), string(l.Level), yellow, printable(l.Text))
		}
		p.warned = max(p.warned, l.Number)
	}
}

func (p *linewise) line(at, kind string, colour sgr, text string) {
	at, kind = fmt.Sprintf("%9s", at), fmt.Sprintf("%-16s", kind)
	fmt.Fprintf(p.out, "%s  %s  %s\n", p.look.paint(at, dim), p.look.paint(kind, colour), text)
}

func told(k messages.Kind) sgr {
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

func (*linewise) end() {}

func (*linewise) leave() {}

// silent shows nothing.
type silent struct{}

func (silent) show(messages.State, messages.Event) {}

func (silent) end() {}

func (silent) leave() {}
