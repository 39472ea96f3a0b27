package testkit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// kept kills a node, or lets it sleep, at each append of a job of three steps, and after the second of them. No step is
// made that the log has, and one that must not be made twice is made once at most.
func (s runtimeSuite) kept() {
	for _, once := range []bool{false, true} {
		s.atEachAppend(fmt.Sprintf("once: %t, ", once), fates, func(w *world, m *mortal) { w.kept(m, once) })
	}
	s.in("lost after the second step", func(w *world) {
		m := w.mortal(dies, 0)
		made := w.kept(m, false, "3")
		if m.alive() || fmt.Sprint(made) != "[1 2 3 3]" { // the first node began the third, and is not heard any more
			w.complain("the steps %v were made", made)
		}
	})
}

// kept runs the job at the mortal node, which also dies in the steps named so, and returns the steps that were made.
func (w *world) kept(m *mortal, once bool, deadly ...string) (made []string) {
	var mu sync.Mutex
	do, most := actors.Do[int], 4
	if once {
		do, most = actors.DoOnce[int], 3
	}
	job := func(called func()) actors.Job {
		work := func(ctx context.Context, t *actors.TaskContext) error {
			sum := 0
			for _, step := range []string{"1", "2", "3"} {
				n, err := do(ctx, t, step, func(ctx context.Context) (int, error) {
					w.notKept(t.RunID(), step)
					called()
					mu.Lock()
					made = append(made, step)
					mu.Unlock()
					if len(deadly) > 0 && step == deadly[0] {
						m.strike()
					}
					return 10, pause(ctx, 60*time.Millisecond)
				})
				if sum += n; err != nil {
					return err
				}
			}
			return t.Result(sum, false)
		}
		return actors.Job{Name: "errand", Restart: true, Tasks: []actors.Task{{Name: "steps", Run: work}}}
	}
	_, b, id, calls := w.successors(m, job)
	seen := w.follow(b, id, 0).all(w, 5*time.Minute)
	time.Sleep(2 * time.Minute) // who slept, wakes
	w.agree(w.log(id), seen)
	end := w.end(id)
	if n := calls.Load(); n > int64(most) || n < 3 && end.Status == messages.Completed {
		w.complain("of 3 steps %d were made", n)
	}
	if once {
		w.ends(end, completed, Outcome{Status: messages.Failed, By: messages.ByRun, Cause: messages.CauseError})
	} else if w.ends(end, completed); string(end.End.Result) != "30" {
		w.complain("the steps came to %s", end.End.Result)
	}
	return made
}

// notKept checks that the log does not have the end of a step that is about to be made.
func (w *world) notKept(id messages.RunID, step string) {
	page, err := w.reader.Read(context.Background(), id, 0)
	for _, e := range page.Events {
		if b, ok := e.Body.(messages.StepKept); ok && b.Step == step && b.Result != nil {
			w.complain("step %s is made again, and event %d has its result (%v)", step, e.Seq, err)
		}
	}
}
