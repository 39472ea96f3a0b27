package main

import (
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/messages"
)

// linewise shows a run as one line per milestone: the time since the run was queued, the kind, the message.
type linewise struct {
	out  io.Writer
	look look
}

func (p *linewise) show(s messages.State, e messages.Event) {
	if e.IsDelta() {
		return
	}
	text := printable(e.Message)
	if body, ok := e.Body.(messages.RunCanceling); ok && interrupted(body) {
		text += "; Ctrl-C leaves at once"
	}
	at, kind := fmt.Sprintf("%9s", since(s.QueuedAt, e.Time)), fmt.Sprintf("%-16s", e.Kind())
	fmt.Fprintf(p.out, "%s  %s  %s\n", p.look.paint(at, dim), p.look.paint(kind, told(e.Kind())), text)
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
