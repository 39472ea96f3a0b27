package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Check runs a job repeatedly in virtual time, and breaks it at each point where a task begins, emits an event, waits for
// an answer or returns. The task crashes, hangs or is cancelled; or its node is killed and another starts with the same
// journal; or the journal refuses its events at first. Check fails the test for each promise that the job then breaks:
//
//   - A cancel ends the run within two seconds.
//   - A run whose journal refused something for a while completes as if nothing had happened. So does a run whose node
//     was killed, if the job says that it may be called again: by [actors.Job].Restart, by a step, by a Policy with
//     RetryCrash, or by retry of a command. Any other run ends with node_lost, and its message names the field.
//   - A run that completes has the result and the texts of an unbroken run, has made each effect as often, and has left
//     the same files. Only an effect inside [actors.Do] that was broken before its result was kept may happen once more.
//   - A run that goes on asks for the steps that it has kept.
//   - A file is on disk when the job says that it is, and has the size and digest of the terminal.
//
// Each of with is one of these: a func() int counts an effect that the job has made elsewhere, over all runs; a
// map[string]any has the answers to questions by their Request; a func(messages.InputRequired) any gives them; a
// func() actors.Definition makes the job anew for the node that goes on, which shares no memory with the killed one. A
// question without an answer fails the test, which says its name and prompt. If the input has a field out, each run gets
// its own empty folder there. Unbroken, the job must complete, and always do the same. Work that ignores a
// cancel must end by itself. Time stands still while the program of a command runs, except where the journal refuses.
func Check(t *testing.T, definition actors.Definition, input any, with ...any) {
	t.Helper()
	for _, says := range brokenPromises(t, definition, input, with...) {
		t.Error(says)
	}
}

// subject is the job with what Check gets beside it.
type subject struct {
	definition actors.Definition
	anew       func() actors.Definition
	input      json.RawMessage
	effects    []func() int
	answer     answering
	programs   int // of the test itself
}

// answering returns the answer to a question, or nil.
type answering func(messages.InputRequired) any

func subjectOf(t *testing.T, definition actors.Definition, input any, with []any) subject {
	t.Helper()
	text, err := json.Marshal(input)
	must(t, err)
	s := subject{programs: programs(), definition: definition, anew: func() actors.Definition { return definition }, input: text,
		answer: func(messages.InputRequired) any { return nil }}
	for _, w := range with {
		switch w := w.(type) {
		case func() int:
			s.effects = append(s.effects, w)
		case map[string]any:
			s.answer = func(q messages.InputRequired) any { return w[q.Request] }
		case func(messages.InputRequired) any:
			s.answer = w
		case func() actors.Definition:
			s.anew = w
		default:
			t.Fatalf("testkit.Check takes func() int, map[string]any, func(messages.InputRequired) any and func() actors.Definition, not %T", w)
		}
	}
	return s
}

// way is a way to break a run; each constant names what happens.
type way string

const (
	unbroken   way = ""
	crashing   way = "a crash"
	hanging    way = "a hang"
	cancelling way = "a cancel"
	restarting way = "a kill of the node"
	refusing   way = "a refused append"
)

// brokenPromises runs the unbroken job, then one run for each way and point, and returns the violations.
func brokenPromises(t *testing.T, definition actors.Definition, input any, with ...any) []string {
	t.Helper()
	of := subjectOf(t, definition, input, with)
	whole := &breaking{subject: of}
	if whole.run(t); whole.end.Status != messages.Completed {
		t.Fatalf("the job does not complete even without a fault: it is %s, %+v", whole.end.Status, whole.end.End)
	}
	for _, how := range []way{crashing, hanging, cancelling, restarting, refusing} {
		for _, at := range whole.points {
			b := &breaking{subject: of, how: how, at: at, whole: whole}
			b.run(t)
			whole.broken = append(whole.broken, b.broken...)
		}
	}
	return whole.broken
}

// breaking is one run, broken at one point, and the record of what happened. mu guards the fields below it, for the
// tasks' goroutines.
type breaking struct {
	subject
	how   way
	at    string    // the point, such as "fetch returns"
	whole *breaking // the unbroken run to compare with, or nil if this is that run

	out     string
	release chan struct{}
	node    *mortal

	mu     sync.Mutex
	count  map[string]int // number of points passed, by the task's attempt
	points []string
	still  bool                // a program waits for the log, and time stands still
	struck bool                // the break has happened
	task   *actors.TaskContext // the last one that came to a point
	refuse bool
	saved  map[string][]map[string]string // the files at each moment when a task said that it wrote one

	end    messages.State
	log    []messages.Event
	files  map[string]string // digests
	done   []int             // final count of each effect
	broken []string          // the violations
}

// breaks records a violation.
func (b *breaking) breaks(format string, args ...any) {
	says := fmt.Sprintf(format, args...)
	if b.how != unbroken {
		says = fmt.Sprintf("%s at %s: %s", b.how, b.at, says)
	}
	b.broken = append(b.broken, says)
}

// run plays the job in a synctest bubble, where time is virtual, and then judges what it left.
func (b *breaking) run(t *testing.T) {
	t.Helper()
	b.out = filepath.Join(t.TempDir(), "out")
	var fields map[string]json.RawMessage
	if json.Unmarshal(b.input, &fields) == nil && fields["out"] != nil {
		fields["out"], _ = json.Marshal(b.out)
		b.input, _ = json.Marshal(fields)
	}
	must(t, os.MkdirAll(b.out, 0o755))
	before := b.counted()
	play := func(t *testing.T) {
		b.play(t)
		b.files, b.done = filesOf(b.out), b.counted()
		for i := range before {
			b.done[i] -= before[i]
		}
		close(b.release)
	}
	if b.how == refusing && b.whole.still { // the next try comes after some time
		play(t)
	} else {
		synctest.Test(t, play)
	}
	b.judge()
}

func (b *breaking) counted() (all []int) {
	for _, effect := range b.effects {
		all = append(all, effect())
	}
	return all
}

// play runs the job, breaks it, and reads how it ended.
func (b *breaking) play(t *testing.T) {
	b.release, b.count, b.saved = make(chan struct{}), map[string]int{}, map[string][]map[string]string{}
	store := journal.NewMemory()
	w := &world{T: t, what: fmt.Sprintf("%s at %s", b.how, b.at), reader: store}
	w.journal = &ordered{Journal: store, complain: w.complain}
	b.node = w.mortal(dies, -1)
	start := func(name string, d actors.Definition, j actors.Journal, inject func(actors.Point)) *actors.System {
		config := actors.Config{Node: name, Jobs: []actors.Definition{d}, Journal: j, Inject: inject, HandOver: true, Drain: time.Second}
		s, err := actors.New(t.Context(), config)
		must(t, err)
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		return s
	}
	s := start("a", b.definition, &Journal{Journal: b.node, Disturb: b.disturb}, b.inject)
	nodes := []*actors.System{s}
	if b.how == restarting {
		b.definition = b.anew()
		nodes = append(nodes, start("b", b.definition, w.journal, nil))
	}
	id, err := s.Submit(t.Context(), messages.Request{Job: b.definition.Name, Input: b.input, Mode: messages.Detached})
	must(t, err)
	news := make(chan struct{}, 1) // time stands still while a program waits for an answer
	go func() {
		for range nodes[len(nodes)-1].Events(t.Context(), id, 0) {
			if len(news) == 0 {
				news <- struct{}{}
			}
		}
	}()
	archive := journal.NewArchive(store)
	for begun := time.Now(); time.Since(begun) < time.Hour; {
		b.end, err = archive.State(t.Context(), id)
		must(t, err)
		if b.end.Status.IsEnded() {
			b.log = w.log(id)
			return
		}
		b.reply(t, nodes)
		select {
		case <-news:
		case <-time.After(500 * time.Millisecond):
		}
	}
	t.Fatalf("%s at %s: the run does not end within an hour", b.how, b.at)
}

// reply answers the run's open questions on the node that has the run.
func (b *breaking) reply(t *testing.T, nodes []*actors.System) {
	for _, q := range b.end.Inputs {
		if q.Closed || b.end.Canceling {
			continue
		}
		value := b.answer(messages.InputRequired{Request: q.Request, Task: q.Task, Prompt: q.Prompt, Schema: q.Schema, InputKind: q.Kind})
		if value == nil {
			t.Fatalf("%s at %s: the question %q of %s waits for an answer, and testkit.Check has none: %s", b.how, b.at, q.Request, q.Task, q.Prompt)
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("the answer to %q is not JSON: %v", q.Request, err)
		}
		if b.strikes(fmt.Sprintf("%s waits for %q", q.Task, q.Request), true) {
			if b.how == restarting {
				b.stop(b.task)
			} else if b.how == cancelling {
				b.cancel(nodes[0], b.end.RunID)
			}
		}
		for _, node := range nodes { // a dead one does not answer
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			go func(run messages.RunID, request, principal string) {
				defer cancel()
				_ = node.Answer(ctx, run, request, data, principal) // the log tells
			}(b.end.RunID, q.Request, b.end.Queued.Principal)
		}
	}
}

// inject breaks the run at the point. A task of a lost node never continues.
func (b *breaking) inject(p actors.Point) {
	if p.Task == nil {
		return
	}
	attempt := fmt.Sprintf("%s, attempt %d", p.Actor, p.Attempt)
	b.mu.Lock()
	b.count[attempt]++
	b.task = p.Task
	at := fmt.Sprintf("%s, point %d (%s)", attempt, b.count[attempt], p.Name)
	delta := messages.Kind(p.Name).Level() == messages.Delta
	alike := delta && b.count[attempt+p.Name] > 0 // pieces of a text
	b.count[attempt+p.Name]++
	if p.Name == string(messages.KindArtifactWritten) {
		b.saved[p.Actor] = append(b.saved[p.Actor], filesOf(b.out))
	}
	b.mu.Unlock()
	if alike || !b.strikes(at, !delta) {
		return
	}
	switch b.how {
	case crashing:
		panic(errInjected)
	case cancelling:
		time.AfterFunc(time.Millisecond, func() { b.cancel(p.System, p.Run) }) // by then the task waits for what comes next
	case hanging, restarting:
		b.stop(p.Task)
		<-b.release
		panic(errInjected)
	}
}

// strikes notes a point that the run has come to, and reports whether it is broken there. waits: its task waits for the log.
func (b *breaking) strikes(at string, waits bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.points, at) {
		b.points = append(b.points, at)
		b.still = b.still || waits && programs() > b.programs
	}
	strikes := at == b.at && !b.struck
	b.struck = b.struck || strikes
	b.refuse = b.refuse || strikes && b.how == refusing
	return strikes
}

// stop stops the node if it is to be killed, and the programs of the task: one that waits for an answer lets no time pass.
func (b *breaking) stop(task *actors.TaskContext) {
	if b.how == restarting {
		b.node.strike()
	}
	task.Go(func(context.Context) error { return errInjected })
}

func (b *breaking) cancel(s *actors.System, id messages.RunID) {
	_ = s.Cancel(context.Background(), id, "tester", "the test says so") // the log tells
}

func (b *breaking) disturb(journal.Block) Disturbance {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.refuse = false }()
	return Disturbance{Refuse: b.refuse}
}

// programs returns how many programs of this process run. Only Linux says so.
func programs() (n int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread that has ended has none
		n += len(strings.Fields(string(text)))
	}
	return n
}
