package terminal

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// A write that failed is an error of the program, also if nobody has looked at it.
func TestPatientTellsWhatFailed(t *testing.T) {
	in, out := io.Pipe()
	in.CloseWithError(errors.New("the disk is full"))
	p := NewPatient(out)
	_, _ = io.WriteString(p, "hello")
	if err := p.Report(io.Discard, nil); err == nil || err.Error() != "the disk is full" {
		t.Errorf("the report is %v", err)
	}
}

// A reader may take its time until it is hurried. Then it has five seconds, and one line tells what it has not read.
func TestPatientWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		p := NewPatient(out)
		time.AfterFunc(time.Hour, func() { io.ReadFull(in, make([]byte, 5)) })
		if _, err := io.WriteString(p, "hello"); err != nil {
			t.Errorf("a write that waits for an hour: %v", err)
		}
		begun := time.Now()
		p.Hurry()
		_, err := io.WriteString(p, strings.Repeat("x", 5000))
		_, again := io.WriteString(p, "x")
		var said strings.Builder
		report := p.Report(&said, err)
		if d := time.Since(begun).Round(time.Second); d != lastChance || !errors.Is(err, ErrUnread) || !errors.Is(again, ErrUnread) || report != nil {
			t.Errorf("after %s: %v, %v, %v", d, err, again, report)
		}
		if want := "nobody reads stdout: 5,001 bytes were not written\n"; !strings.HasSuffix(said.String(), want) {
			t.Errorf("%q, want %q", said.String(), want)
		}
		in.Close()
	})
}

// murmuring is a run that can be read by several, each at its own pace.
type murmuring []messages.Event

func (m murmuring) Events(context.Context, uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for _, e := range m {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (murmuring) Cancel(context.Context, string) error { return nil }

// counting counts what it shows.
type counting struct {
	Silent
	events int
}

func (c *counting) Show(messages.State, messages.Event) { c.events++ }

// Stdout that nobody reads delays neither the view nor the end, once the run was canceled.
func TestUnreadStdoutDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now()
		event := func(seq uint64, b messages.Body) messages.Event {
			return messages.Event{RunID: "r_1", Seq: seq, From: seq, Time: at, Body: b}
		}
		run := murmuring{event(1, messages.RunQueued{Job: "it"}), event(2, messages.RunCanceling{}), event(3, messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser})}
		in, out := io.Pipe()
		defer in.Close()
		v := &counting{}
		d := &Display{Stdout: NewPatient(out), Stderr: io.Discard, JSONL: true, View: v, Own: true}
		if _, err := d.Follow(t.Context(), run); err != nil || v.events != 3 || !errors.Is(d.Lost, ErrUnread) {
			t.Errorf("%d events were shown; %v, stdout: %v", v.events, err, d.Lost)
		}
		if took := time.Since(at).Round(time.Second); took != lastChance {
			t.Errorf("it took %s", took)
		}
	})
}
