package plans

import (
	"fmt"
	"io"
	"iter"

	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// Show prints why each step of a plan ran, was skipped or ran again, from the events of its steps.
func Show(w io.Writer, events iter.Seq2[messages.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		words := terminal.Flat(e.Message)
		switch b := e.Body.(type) {
		case messages.StepStarted, messages.InputRequired, messages.InputReceived:
		case messages.StepEnded:
			if b.Next != "" {
				words += "; next " + terminal.Flat(b.Next)
			}
		default:
			if !e.Kind().IsTerminal() {
				continue
			}
		}
		if _, err := fmt.Fprintf(w, "%s  %s\n", e.Time.Format("15:04:05.000"), words); err != nil {
			return err
		}
	}
	return nil
}
