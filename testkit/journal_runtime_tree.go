package testkit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// parents is a job with two children, one after the other, that take their time, and are waited for.
func parents(work time.Duration) actors.Job {
	child := Script{Fetch: []Step{{Do: Sleep, For: work}}}.Job()
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

// heldChild holds back a child's first block while the parent is ended elsewhere, and then lets it go.
func (s runtimeSuite) heldChild() {
	s.in("held", func(w *world) {
		m := w.mortal(dies, 0)
		gate := make(chan struct{})
		letGo := sync.OnceFunc(func() { close(gate) })
		defer letGo()
		var held actors.BlockID
		a := w.node("a", &Journal{Journal: m, Disturb: func(b actors.Block) (d Disturbance) {
			if b.After.Seq == 0 && parentOf(b.Run) != "" && held == (actors.BlockID{}) {
				held = b.ID
				go func() { // as it was sent before the node died
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
		run, err := a.Start(w.within(time.Minute), parents(time.Second), actors.Options{})
		if err != nil {
			w.Fatal(err)
		}
		w.follow(b, run.ID(), 0).all(w, time.Minute)
		if held == (actors.BlockID{}) {
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

func parentOf(id messages.RunID) messages.RunID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i] == '.' {
			return id[:i]
		}
	}
	return ""
}

// settled holds the order of a family: a child is named before it is, and ends before its parent says so.
func (w *world) settled(id messages.RunID) {
	w.Helper()
	for _, c := range w.end(id).Children {
		at := func(what string, run messages.RunID, is func(messages.Body) bool) int {
			i := w.journal.index(func(e messages.Event) bool { return e.RunID == run && is(e.Body) })
			if i < 0 {
				w.complain("%s of %s is not in the log", what, c.Child)
			}
			return i
		}
		named := at("child.started", id, func(b messages.Body) bool {
			started, ok := b.(messages.ChildStarted)
			return ok && started.Child == c.Child
		})
		born := at("run.queued", c.Child, func(b messages.Body) bool { return b.Kind() == messages.KindRunQueued })
		ended := at("the terminal", c.Child, func(b messages.Body) bool { return messages.Event{Body: b}.IsTerminal() })
		told := at("child.ended", id, func(b messages.Body) bool {
			end, ok := b.(messages.ChildEnded)
			return ok && end.Child == c.Child
		})
		if named >= born || born > ended || ended >= told {
			w.complain("%s was named at %d, born at %d, ended at %d, and told of at %d", c.Child, named, born, ended, told)
		}
		w.settled(c.Child)
	}
}

// family has the node of a parent and its children die at each append, and then the one that settles them.
func (s runtimeSuite) family() {
	for _, f := range []fate{dies, deaf, sleeps} {
		for at, more := 1, true; more && !s.t.Failed(); at++ {
			s.in(fmt.Sprintf("%s %d", f, at), func(w *world) { more = w.family(w.mortal(f, at), w.journal) })
		}
	}
	for _, f := range []fate{dies, deaf} {
		for at, more := 1, true; more && !s.t.Failed(); at++ {
			s.in(fmt.Sprintf("its successor %s %d", f, at), func(w *world) {
				m := w.mortal(f, at)
				w.family(w.mortal(dies, 8), m)
				more = !m.alive()
			})
		}
	}
}

func (w *world) family(first *mortal, second actors.Journal) (struck bool) {
	a := w.node("a", first)
	w.node("b", second)
	c := w.node("c", w.journal)
	run, err := a.Start(w.within(5*time.Second), parents(time.Second), actors.Options{Key: "family"})
	if err != nil {
		time.Sleep(time.Minute) // a run that was never accepted
		return !first.alive()
	}
	w.follow(c, run.ID(), 0).all(w, 10*time.Minute)
	time.Sleep(2 * time.Minute) // who slept, wakes
	if !first.alive() {
		w.ends(w.end(run.ID()), nodeLost, completed)
	} else {
		w.ends(w.end(run.ID()), completed)
	}
	w.settled(run.ID())
	return !first.alive()
}

// usurped has another node end a child whose parent's node lives: the parent is told.
func (s runtimeSuite) usurped() {
	s.in("the first child", func(w *world) {
		a := w.node("a", w.journal)
		run, err := a.Start(w.within(time.Minute), parents(10*time.Second), actors.Options{})
		if err != nil {
			w.Fatal(err)
		}
		time.Sleep(time.Second)
		child := run.ID() + ".c1"
		page, err := w.reader.Read(w.within(time.Second), child, 0)
		if err != nil {
			w.Fatal(err)
		}
		state, err := fold(page.Events)
		if err != nil {
			w.Fatal(err)
		}
		from, seq, rewind := state.Recovery()
		word := failed(messages.ByRecovery)
		word.Cause, word.Rewind = messages.CauseNodeLost, rewind
		last := messages.Event{RunID: child, From: from, Seq: seq, Time: time.Now().UTC(), Body: state.LastWord(word)}
		ends := make(chan error, 1)
		w.journal.Append(actors.Block{Run: child, After: page.Head, ID: actors.BlockID{1}, Writer: "b",
			Epoch: page.Head.Epoch + 1, Events: []messages.Event{last}}, func(err error) { ends <- err })
		if err := <-ends; err != nil {
			w.Fatal(err)
		}
		w.follow(a, run.ID(), 0).all(w, 2*time.Minute)
		w.ends(w.end(run.ID()), completed)
		w.settled(run.ID())
		if end := w.end(run.ID()); end.Children[0].Status != messages.Failed {
			w.complain("the parent says that its child is %s", end.Children[0].Status)
		}
	})
}
