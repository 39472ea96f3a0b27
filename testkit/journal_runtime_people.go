package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// cancelRace cancels a run at its node and at another around the moment at which it ends.
func (s runtimeSuite) cancelRace() {
	script := Script{Fetch: []Step{{Do: Sleep, For: time.Second}}}
	for ms := -6; ms <= 6; ms++ {
		for _, elsewhere := range []bool{false, true} {
			s.in(fmt.Sprintf("%d ms after the end, elsewhere %t", ms, elsewhere), func(w *world) {
				slow := &Journal{Journal: w.journal, Disturb: func(actors.Block) Disturbance {
					return Disturbance{Delay: time.Millisecond}
				}}
				a := w.node("a", slow)
				at := a
				if elsewhere {
					at = w.node("b", w.journal)
				}
				run, err := a.Start(w.within(time.Minute), script.Job(), actors.Options{})
				if err != nil {
					w.Fatal(err)
				}
				time.Sleep(time.Second + time.Duration(ms)*time.Millisecond)
				w.cancels(at, run.ID())
				seen := w.follow(a, run.ID(), 0).all(w, time.Minute)
				w.agree(w.log(run.ID()), seen)
				w.ends(w.end(run.ID()), completed, canceled)
			})
		}
	}
}

// cancelUnstarted cancels what a node has written and never begun.
func (s runtimeSuite) cancelUnstarted() {
	for name, jobs := range map[string][]actors.Job{
		"a job that the node knows":   {{Name: "suite", Tasks: Script{Fetch: []Step{{Do: Hang}}}.Job().Tasks}},
		"a job that it does not know": nil,
	} {
		s.in(name, func(w *world) {
			first := actors.Block{Run: "r_unstarted", ID: actors.BlockID{1}, Writer: "gone",
				Events: numbered("r_unstarted", 1, queued)}
			ends := make(chan error, 1)
			w.journal.Append(first, func(err error) { ends <- err })
			if err := <-ends; err != nil {
				w.Fatal(err)
			}
			a := w.node("a", w.journal, jobs...)
			w.cancels(a, "r_unstarted")
			w.follow(a, "r_unstarted", 0).all(w, time.Minute)
			allowed := []Outcome{canceled}
			if jobs == nil {
				allowed = []Outcome{settled, nodeLost}
			}
			w.ends(w.end("r_unstarted"), allowed...)
		})
	}
}

// asking is a job that asks and makes the answer its result.
func asking() actors.Job { return Script{Fetch: []Step{{Do: Ask, Body: question}}}.Job() }

// twoAnswers gives two answers at once: both here, both there, or one each.
func (s runtimeSuite) twoAnswers() {
	for i, name := range []string{"at the owner", "at both", "elsewhere"} {
		s.in(name, func(w *world) {
			a, b := w.node("a", w.journal), w.node("b", w.journal)
			at := []*actors.System{a, a, b, b}[i : i+2]
			if i == 2 {
				at = []*actors.System{b, b}
			}
			run, err := a.Start(w.within(time.Minute), asking(), actors.Options{})
			if err != nil {
				w.Fatal(err)
			}
			time.Sleep(time.Second)
			answers := []string{`"red"`, `"blue"`}
			ends := make([]error, 2)
			done := make(chan struct{})
			for i, node := range at {
				go func() {
					ends[i] = node.Answer(w.within(time.Minute), run.ID(), "color", json.RawMessage(answers[i]), "ann")
					done <- struct{}{}
				}()
			}
			<-done
			<-done
			given := -1
			for i, err := range ends {
				switch {
				case err == nil && given < 0:
					given = i
				case err == nil:
					w.complain("both answers were taken")
				case messages.CodeOf(err) != messages.CodeConflict && messages.CodeOf(err) != messages.CodeNotFound:
					w.complain("the other answer: %v", err)
				}
			}
			w.follow(b, run.ID(), 0).all(w, time.Minute)
			end := w.end(run.ID())
			w.ends(end, completed)
			if given < 0 || string(end.End.Result) != answers[given] {
				w.complain("the task got %s; the answers ended with %v", end.End.Result, ends)
			}
		})
	}
}

// betweenAttempts answers while no attempt waits, here and elsewhere.
func (s runtimeSuite) betweenAttempts() {
	for _, elsewhere := range []bool{false, true} {
		s.in(fmt.Sprintf("elsewhere %t", elsewhere), func(w *world) {
			a, b := w.node("a", w.journal), w.node("b", w.journal)
			at := map[bool]*actors.System{false: a, true: b}[elsewhere]
			work := func(ctx context.Context, t *actors.TaskContext) error {
				if t.Attempt() == 1 {
					short, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					_, err := t.Ask(short, question)
					return supervision.RetryAfter(10*time.Second, errors.Join(errors.New("nobody is there"), err))
				}
				answer, err := t.Ask(ctx, question)
				return errors.Join(err, t.Result(answer, false))
			}
			job := actors.Job{Name: "asks", Tasks: []actors.Task{{Name: "ask", Run: work}}}
			run, err := a.Start(w.within(time.Minute), job, actors.Options{})
			if err != nil {
				w.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			if err := at.Answer(w.within(time.Minute), run.ID(), "color", json.RawMessage(`"red"`), "ann"); err != nil {
				w.complain("an answer between attempts: %v", err)
			}
			w.follow(at, run.ID(), 0).all(w, time.Minute)
			end := w.end(run.ID())
			if w.ends(end, completed); string(end.End.Result) != `"red"` {
				w.complain("the second attempt got %s", end.End.Result)
			}
		})
	}
}
