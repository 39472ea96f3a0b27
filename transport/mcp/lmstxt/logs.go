package lmstxt

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

const (
	logName    = "run.log"
	eventsName = "run.events.jsonl"
)

// isLog reports whether the name stands for a log of a run, not for a file.
func isLog(name string) bool { return name == logName || name == eventsName }

// copyLog writes the run's events, as JSON lines or as sentences.
func (d *door) copyLog(ctx context.Context, state messages.State, name string, w io.Writer) error {
	for e, err := range d.Events(ctx, state.RunID, 0) {
		if err != nil {
			return err
		}
		if name == eventsName {
			err = json.NewEncoder(w).Encode(e)
		} else {
			sentences(w, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sentences writes what an event says for people.
func sentences(w io.Writer, e messages.Event) {
	at := e.Time.UTC().Format(time.RFC3339Nano)
	if e.Message != "" {
		fmt.Fprintf(w, "%s %s %s\n", at, e.Kind(), e.Message)
	}
	for _, l := range lines(e.Body) {
		fmt.Fprintf(w, "%s %s %s\n", at, l.Level, l.Text)
	}
}

// lines returns the log lines in an event.
func lines(b messages.Body) []messages.LogLine {
	switch b := b.(type) {
	case messages.Log:
		return b.Lines
	case messages.Merged:
		for _, part := range b.Parts {
			if log, ok := part.(messages.Log); ok {
				return log.Lines
			}
		}
	}
	return nil
}
