package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// cancelRace cancels a run at its node and at another around the moment at which it ends.
func (s runtimeSuite) cancelRace() {
	script := faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Sleep, For: time.Second}}}
	for ms := -6; ms <= 6; ms++ {
		for _, elsewhere := range []bool{false, true} {
			s.in(fmt.Sprintf("%d ms after the end, elsewhere %t", ms, elsewhere), func(w *world) {
				slow := &Journal{Journal: w.journal, Disturb: func(journal.Block) Disturbance {
					return Disturbance{Delay: time.Millisecond}
				}}
				a := w.node("a", slow)
				system := a
				if elsewhere {
					system = w.node("b", w.journal)
				}
				run := w.start(a, script.Job())
				time.Sleep(time.Second + time.Duration(ms)*time.Millisecond)
				w.cancels(system, run.ID())
				seen := w.follow(a, run.ID(), 0).all(w, time.Minute)
				w.agree(w.log(run.ID()), seen)
				w.ends(w.end(run.ID()), completed, canceled)
			})
		}
	}
}

// cancelUnstarted cancels a run that a node has written and never started.
func (s runtimeSuite) cancelUnstarted() {
	for name, jobs := range map[string][]actors.Job{
		"a job that the node knows":   {{Name: "suite", Tasks: faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Hang}}}.Job().Tasks}},
		"a job that it does not know": nil,
	} {
		s.in(name, func(w *world) {
			first := journal.Block{Run: "r_unstarted", ID: journal.BlockID{1}, Writer: "gone",
				Events: numbered("r_unstarted", 1, queued)}
			ends := make(chan error, 1)
			w.journal.Append(first, func(err error) { ends <- err })
			must(w, <-ends)
			a := w.node("a", w.journal, jobs...)
			w.cancels(a, "r_unstarted")
			w.follow(a, "r_unstarted", 0).all(w, time.Minute)
			allowed := []outcome{canceled}
			if jobs == nil {
				allowed = []outcome{settled, nodeLost}
			}
			w.ends(w.end("r_unstarted"), allowed...)
		})
	}
}

// asking is a job that asks a question; the answer is its result.
func asking() actors.Job {
	return faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Ask, Body: question}}}.Job()
}

// twoAnswers gives two answers at the same time: both at the owner, both at another node, or one at each.
func (s runtimeSuite) twoAnswers() {
	for i, name := range []string{"at the owner", "at both", "elsewhere"} {
		s.in(name, func(w *world) {
			a, b := w.node("a", w.journal), w.node("b", w.journal)
			system := []*actors.System{a, a, b, b}[i : i+2]
			if i == 2 {
				system = []*actors.System{b, b}
			}
			run := w.start(a, asking())
			time.Sleep(time.Second)
			answers := []string{`"red"`, `"blue"`}
			ends := make([]error, 2)
			done := make(chan struct{})
			for i, node := range system {
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

// attached runs a job for callers at two nodes, one of which may die. The run is cancelled within 30 s when the last
// caller has left.
func (s runtimeSuite) attached() {
	for _, dead := range []bool{false, true} {
		for _, calls := range []bool{false, true} {
			s.in(fmt.Sprintf("its node dies: %t, another caller: %t", dead, calls), func(w *world) {
				job := faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Sleep, For: 5 * time.Minute}}}.Job()
				job.Restart = true
				m := w.mortal(dies, 0)
				a, b, c := w.node("a", m), w.node("b", w.journal, job), w.node("c", w.journal, job)
				synctest.Wait() // until then a does not receive what b sends
				first, leave := context.WithCancel(context.Background())
				defer leave()
				run, err := a.Start(first, job, actors.Options{Mode: messages.Attached})
				must(w, err)
				other, leaveOther := context.WithCancel(context.Background())
				defer leaveOther()
				if calls {
					if err := b.Attach(other, run.ID()); err != nil {
						w.complain("attach at another node: %v", err)
					}
				}
				time.Sleep(time.Second)
				if dead { // before the caller leaves, or the node may record the cancel and recovery ends the run
					m.strike()
				}
				leave()
				time.Sleep(2 * time.Minute)
				if state, _ := c.State(w.within(time.Second), run.ID()); state.Status.IsEnded() == calls {
					w.complain("after two minutes the run is %s", state.Status)
				}
				leaveOther()
				w.follow(c, run.ID(), 0).all(w, time.Minute)
				w.ends(w.end(run.ID()), canceled)
			})
		}
	}
}

// betweenAttempts answers a question between two attempts, at this node and another.
func (s runtimeSuite) betweenAttempts() {
	for _, elsewhere := range []bool{false, true} {
		s.in(fmt.Sprintf("elsewhere %t", elsewhere), func(w *world) {
			a, b := w.node("a", w.journal), w.node("b", w.journal)
			system := map[bool]*actors.System{false: a, true: b}[elsewhere]
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
			run := w.start(a, job)
			time.Sleep(5 * time.Second)
			if err := system.Answer(w.within(time.Minute), run.ID(), "color", json.RawMessage(`"red"`), "ann"); err != nil {
				w.complain("an answer between attempts: %v", err)
			}
			w.follow(system, run.ID(), 0).all(w, time.Minute)
			end := w.end(run.ID())
			if w.ends(end, completed); string(end.End.Result) != `"red"` {
				w.complain("the second attempt got %s", end.End.Result)
			}
		})
	}
}

// quota starts as many runs of a principal at one node as are allowed. Another node starts no more, but finds one by
// its key.
func (s runtimeSuite) quota() {
	s.in("two nodes", func(w *world) {
		a, b := w.node("a", w.journal), w.node("b", w.journal)
		job := jobOf("slow", faultplan.Step{Do: faultplan.Sleep, For: time.Minute})
		o := actors.Options{Principal: "ann", Key: "the first"}
		first, err := a.Start(w.within(time.Minute), job, o)
		for range 31 {
			if err == nil {
				_, err = a.Start(w.within(time.Minute), job, actors.Options{Principal: "ann"})
			}
		}
		must(w, err)
		time.Sleep(time.Second)
		if _, err := b.Start(w.within(time.Minute), job, actors.Options{Principal: "ann"}); messages.CodeOf(err) !=
			messages.CauseLimitExceeded {
			w.complain("one run more at another node: %v", err)
		}
		if again, err := b.Start(w.within(time.Minute), job, o); err != nil || again.ID() != first.ID() {
			w.complain("the first run again: %v", err)
		}
		if _, err := b.Start(w.within(time.Minute), job, actors.Options{Principal: "bob"}); err != nil {
			w.complain("a run of another principal: %v", err)
		}
	})
}

// parents is a job that waits for two children, one after the other.
func parents(work time.Duration) actors.Job {
	child := faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Sleep, For: work}}}.Job()
	child.Tasks = child.Tasks[:1]
	raise := func(ctx context.Context, t *actors.TaskContext) error {
		for range 2 {
			run, err := t.Start(ctx, child, actors.Options{})
			if err != nil {
				return err
			}
			if _, err = run.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return actors.Job{Name: "parent", Tasks: []actors.Task{{Name: "raise", Run: raise}}}
}

// heldChild delays the first block of a child until another node has ended the parent.
func (s runtimeSuite) heldChild() {
	s.in("held", func(w *world) {
		m := w.mortal(dies, 0)
		gate := make(chan struct{})
		letGo := sync.OnceFunc(func() { close(gate) })
		defer letGo()
		var held journal.BlockID
		a := w.node("a", &Journal{Journal: m, Disturb: func(b journal.Block) (d Disturbance) {
			if b.After.Seq == 0 && parentOf(b.Run) != "" && held == (journal.BlockID{}) {
				held = b.ID
				go func() { // as if it was sent before the node died
					<-gate
					w.journal.Append(b, func(err error) {
						if err == nil {
							w.complain("a child was born after it was settled")
						}
					})
				}()
				m.strike()
			}
			return d
		}})
		b := w.node("b", w.journal)
		run := w.start(a, parents(time.Second))
		w.follow(b, run.ID(), 0).all(w, time.Minute)
		if held == (journal.BlockID{}) {
			w.Fatal("no child's first block was held")
		}
		letGo()
		time.Sleep(time.Minute)
		w.ends(w.end(run.ID()), nodeLost)
		w.settled(run.ID())
		if end := w.end(run.ID() + ".c1"); end.End.By != messages.ByNode || end.Status != messages.Canceled {
			w.complain("the child that was held ended as %s by %s", end.Status, end.End.By)
		}
	})
}

// parentOf returns the id of the parent of a sub-run, or "".
func parentOf(id messages.RunID) messages.RunID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i] == '.' {
			return id[:i]
		}
	}
	return ""
}

// settled checks that each child that the parent names was started and has ended, and that the parent says so.
// [ordered] checks the order.
func (w *world) settled(id messages.RunID) {
	w.Helper()
	for _, c := range w.end(id).Children {
		if end := w.end(c.Child); !end.Status.IsEnded() || end.Status != c.Status {
			w.complain("%s is %s, and %s says %s", c.Child, end.Status, id, c.Status)
		}
		w.settled(c.Child)
	}
}

// family kills the node of a parent and its children at each append, and then the node that settles them.
func (s runtimeSuite) family() {
	s.atEachAppend("", fates, func(w *world, m *mortal) { w.family(m, w.journal) })
	s.atEachAppend("its successor ", []fate{dies, deaf}, func(w *world, m *mortal) { w.family(w.mortal(dies, 8), m) })
}

// familyGoesOn kills the node of a parent and its children at each append. All of them may continue.
func (s runtimeSuite) familyGoesOn() {
	s.atEachAppend("", fates, func(w *world, first *mortal) {
		parent := parents(time.Second)
		parent.Restart = true
		child := faultplan.Script{Fetch: []faultplan.Step{{Do: faultplan.Sleep, For: time.Second}}}.Job()
		child.Tasks, child.Restart = child.Tasks[:1], true
		a := w.node("a", first, parent, child)
		end := w.parent(a, w.node("b", w.journal, parent, child), parent, actors.Options{})
		if end == nil {
			return
		}
		w.ends(*end, completed)
		if n := len(end.Children); n != 2 {
			w.complain("the parent has %d children", n)
		}
	})
}

// familySpends kills the node of a parent and its children, which call models until the budget is used up, at each append.
func (s runtimeSuite) familySpends() {
	const most = 4
	pay := func(ctx context.Context, t *actors.TaskContext) error {
		for n := 1; ; n++ {
			call := fmt.Sprintf("m%d.%d", t.Attempt(), n)
			if _, err := t.AskModel(messages.LLMStarted{Call: call, Model: "tiny"}, "", 7, 5); messages.CodeOf(err) == messages.CodeBudget {
				return nil
			} else if err != nil {
				return err
			}
			err := errors.Join(faultplan.Pause(ctx, 10*time.Millisecond), t.Emit(messages.LLMCompleted{Call: call, Model: "tiny",
				Evidence: "done-marker", Verdict: "completed", Usage: &messages.Usage{PromptTokens: new(int64(7))}}, ""))
			if err != nil {
				return err
			}
		}
	}
	child := actors.Job{Name: "payer", Restart: true, Tasks: []actors.Task{{Name: "pay", Run: pay}}}
	parent := actors.Job{Name: "parent", Restart: true, Tasks: []actors.Task{{Name: "raise", Run: func(ctx context.Context, t *actors.TaskContext) error {
		for range 2 {
			run, err := t.Start(ctx, child, actors.Options{})
			if err == nil {
				_, err = run.Wait(ctx)
			}
			if err != nil && messages.CodeOf(err) != messages.CodeBudget {
				return err
			}
		}
		return nil
	}}}}
	s.atEachAppend("", []fate{dies, sleeps}, func(w *world, first *mortal) {
		a, b := w.node("a", first, parent, child), w.node("b", w.journal, parent, child)
		w.node("c", w.journal, parent, child)
		end, calls := w.parent(a, b, parent, actors.Options{Limits: messages.Limits{Budget: messages.Budget{ModelCalls: most}}}), 0
		if end == nil {
			return
		}
		w.ends(*end, completed)
		for _, c := range end.Children {
			for _, e := range w.log(c.Child) {
				if e.Kind() == messages.KindLLMStarted {
					calls++
				}
			}
		}
		eldest := w.end(end.Children[0].Child) // wherever it went on, it asked for all that was left
		if spent := end.Spent().ModelCalls; calls != most || eldest.Spent().ModelCalls != most || spent != most {
			w.complain("%d calls of %d are made, and the parent says %d; the first child: %+v", calls, most, spent, eldest.Purse)
		}
	})
}

// parent starts the parent of a family at the first node, and reads it to its end at another. It returns the State of its
// log, or nil if the run was never accepted, and checks that no child is left.
func (w *world) parent(at, reader *actors.System, job actors.Job, o actors.Options) *messages.State {
	o.Key = "family"
	run, err := at.Start(w.within(5*time.Second), job, o)
	if err != nil {
		time.Sleep(time.Minute)
		return nil
	}
	w.follow(reader, run.ID(), 0).all(w, 10*time.Minute)
	time.Sleep(2 * time.Minute) // who slept, wakes
	w.settled(run.ID())
	return new(w.end(run.ID()))
}

// family lets the node of a parent die or sleep, and checks that no child is left.
func (w *world) family(first *mortal, second actors.Journal) {
	a := w.node("a", first)
	w.node("b", second)
	switch end := w.parent(a, w.node("c", w.journal), parents(time.Second), actors.Options{}); {
	case end == nil:
	case first.alive():
		w.ends(*end, completed)
	default:
		w.ends(*end, nodeLost, completed)
	}
}

// usurped ends a child from another node while the parent's node lives. The parent must learn of it.
func (s runtimeSuite) usurped() {
	s.in("the first child", func(w *world) {
		a := w.node("a", w.journal)
		run := w.start(a, parents(10*time.Second))
		time.Sleep(time.Second)
		child := run.ID() + ".c1"
		page, err := w.reader.Read(w.within(time.Second), child, 0)
		must(w, err)
		state, err := stories.Fold(page.Events)
		must(w, err)
		from, seq, rewind := state.Recovery()
		word := failed(messages.ByRecovery)
		word.Cause, word.Rewind = messages.CauseNodeLost, rewind
		last := messages.Event{RunID: child, From: from, Seq: seq, Time: time.Now().UTC(), Body: state.Terminal(word)}
		ends := make(chan error, 1)
		w.journal.Append(journal.Block{Run: child, After: page.Head, ID: journal.BlockID{1}, Writer: "b",
			Epoch: page.Head.Epoch + 1, Events: []messages.Event{last}}, func(err error) { ends <- err })
		must(w, <-ends)
		w.follow(a, run.ID(), 0).all(w, 2*time.Minute)
		w.ends(w.end(run.ID()), completed)
		w.settled(run.ID())
		if end := w.end(run.ID()); end.Children[0].Status != messages.Failed {
			w.complain("the parent says that its child is %s", end.Children[0].Status)
		}
	})
}
