package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// do is the run actor's: it does what follows from a step.
func (s *sim) do(e *effect) {
	switch e.do {
	case doCall:
		s.call(e.attempt, e.spawn)
	case doCancel:
		s.say("  cancel: %v", e.err)
		if s.cause == nil {
			s.cause = e.err
		}
		for _, w := range s.workers {
			w.cancel(e.err)
		}
	case doInterrupt:
		if e.attempt != s.m.current {
			s.fail("%s/%d is interrupted, and is not current", e.attempt.task.Name, e.attempt.number)
		}
	case doAskParent:
		s.post(&refilled{})
	case doFollowTurn:
		end := messages.State{Status: []messages.Status{messages.Completed, messages.Failed, messages.Canceled}[s.dice.IntN(3)]}
		s.after(time.Second, "the run before ends", func() { s.post(&turnOver{about: end, of: s.judge.Peek().After}) })
	case doCancelIt:
		if w := s.worker(e.attempt.task.Name, e.attempt.number); w != nil {
			w.cancel(e.err)
		}
	case doStop:
		s.say("  stop")
		for _, a := range s.actors {
			a.stop()
		}
	case doAbandon:
		s.say("  abandon")
		for _, w := range s.workers {
			w.abandoned = true
		}
		for _, a := range s.actors {
			a.end(supervision.ErrAbandoned)
		}
	case doAfter:
		message := e.message
		s.after(e.after, fmt.Sprintf("%T", message), func() { s.post(message) })
	case doWhenKept:
		switch {
		case s.lost:
			s.unkept(e.message)
		case e.seq <= s.durable:
			s.post(e.message)
		default:
			s.kept = append(s.kept, simKept{seq: e.seq, message: e.message})
		}
	case doTell:
		e.tell()
	case doKept:
		switch {
		case s.lost || s.starved:
			e.reply <- errTrouble
		case e.seq <= s.durable:
			e.reply <- nil
		default:
			s.kept = append(s.kept, simKept{seq: e.seq, reply: e.reply})
		}
	case doStartChild:
		s.bear(e.child)
	case doWriteCanceled:
		s.stillborn(e.child)
	case doCancelChild:
		if c := s.child(e.child.id); c != nil {
			c.canceled = true
		}
	case doLeave:
		s.leave()
	}
}

// call has an actor call the attempt.
func (s *sim) call(a *attempt, spawn bool) {
	name := fmt.Sprintf("%s/%d", a.task.Name, a.number)
	s.say("  call %s", name)
	if s.calls[name]++; s.calls[name] > 1 {
		s.fail("%s is called twice", name)
	}
	if s.working() != nil {
		s.fail("%s is called while %s works", name, s.working().name())
	}
	began := false
	for _, e := range s.log {
		switch b := e.Body.(type) {
		case messages.RunStarted:
			if e.Seq > s.durable && !s.lost {
				s.fail("%s is called before the run's owner is durable", name)
			}
		case messages.TaskStarted:
			began = began || b.Task == a.task.Name && a.number == 1 && (!a.task.Once || e.Seq <= s.durable)
		case messages.TaskRestarted:
			began = began || b.Task == a.task.Name && b.Attempt == a.number && (!a.task.Once || e.Seq <= s.durable)
		}
	}
	if !began {
		s.fail("%s is called, and its start is not in the log", name)
	}
	if s.left {
		s.fail("%s is called after the end", name)
	}
	if spawn {
		if s.one(40) {
			s.post(&taskActorEnded{task: a.task.Name, err: supervision.ErrStopping})
			return
		}
		s.actors = append(s.actors, &simActor{s: s, task: a.task.Name, alive: true})
	}
	for i := len(s.actors) - 1; i >= 0; i-- {
		if s.actors[i].task == a.task.Name {
			s.actors[i].inbox = append(s.actors[i].inbox, a)
			return
		}
	}
	s.fail("%s has no actor", name)
}

// simActor is a task's.
type simActor struct {
	s        *sim
	task     string
	inbox    []any // attempts to call, and workers that have ended
	alive    bool
	blocked  bool
	stopping bool
	gone     bool // its end was told
}

func (a *simActor) able() bool { return a.alive && !a.blocked && (a.stopping || len(a.inbox) > 0) }

func (a *simActor) turn() {
	if a.stopping {
		a.end(nil)
		return
	}
	next := a.inbox[0]
	a.inbox = a.inbox[1:]
	switch m := next.(type) {
	case *attempt:
		a.s.work(m, a)
	case *simWorker:
		if crash, ok := errors.AsType[*supervision.Crash](m.err); ok {
			a.end(crash)
			return
		}
		a.s.post(&returned{attempt: m.a, err: m.err})
	}
}

// strike has the actor crash in a turn, be killed, or block.
func (a *simActor) strike(how int) {
	switch how {
	case 0:
		if !a.blocked {
			a.end(&supervision.Crash{Value: "turn", During: "turn"})
		}
	case 1:
		a.s.say("%s blocks", a.task)
		a.blocked = true
	default:
		a.s.say("%s is killed", a.task)
		a.stopping = true
	}
}

// stop is the parent's: what does not stop in time is abandoned.
func (a *simActor) stop() {
	if !a.alive {
		return
	}
	a.stopping = true
	a.s.after(a.s.m.hard, "shutdown of "+a.task, func() { a.end(supervision.ErrAbandoned) })
}

func (a *simActor) end(err error) {
	if !a.alive {
		return
	}
	a.alive, a.gone = false, true
	a.s.say("the actor of %s ends: %v", a.task, err)
	if !errors.Is(err, supervision.ErrAbandoned) {
		for _, w := range a.s.workers {
			if w.a.task.Name == a.task {
				w.cancel(errActorStopped)
			}
		}
	}
	a.s.post(&taskActorEnded{task: a.task, err: err})
}

// simWorker is the work of an attempt.
type simWorker struct {
	s         *sim
	a         *attempt
	actor     *simActor
	left      int // things to do
	calls     int
	cause     error // it was cancelled
	deaf      bool  // it never ends
	done      bool
	abandoned bool
	err       error
	result    json.RawMessage
	onEnd     func()

	verdict chan error
	said    uint64 // what a commit waits for, at least
	keeps   string // the step whose end is on its way
	answer  chan answer
	asked   string
	heard   chan answer
	birth   chan childStart
	wanted  string
}

func (s *sim) work(a *attempt, actor *simActor) {
	w := &simWorker{s: s, a: a, actor: actor, left: s.dice.IntN(9), deaf: s.one(25)}
	s.say("%s begins", w.name())
	s.workers = append(s.workers, w)
	if s.cause != nil {
		w.cancel(s.cause)
	}
}

func (w *simWorker) name() string  { return fmt.Sprintf("%s/%d", w.a.task.Name, w.a.number) }
func (w *simWorker) running() bool { return !w.done && !w.abandoned }

func (w *simWorker) cancel(cause error) {
	if w.cause == nil {
		w.cause = cause
	}
}

func (s *sim) working() *simWorker {
	for _, w := range s.workers {
		if w.running() {
			return w
		}
	}
	return nil
}

func (s *sim) worker(task string, number int) *simWorker {
	for _, w := range s.workers {
		if w.a.task.Name == task && w.a.number == number {
			return w
		}
	}
	return nil
}

func (w *simWorker) waits() bool {
	return w.verdict != nil && len(w.verdict) == 0 || w.answer != nil && len(w.answer) == 0 || w.birth != nil && len(w.birth) == 0 ||
		w.heard != nil && len(w.heard) == 0
}

func (w *simWorker) able() bool {
	if w.done || w.deaf && w.left == 0 {
		return false
	}
	return w.cause != nil || !w.waits()
}

// act does the next thing.
func (w *simWorker) act() {
	if w.heed(); w.cause != nil && w.left > 0 {
		w.left = 0
		return
	}
	if w.left == 0 {
		if !w.deaf {
			w.end()
		}
		return
	}
	w.left--
	switch w.s.dice.IntN(13) {
	case 0, 1:
		w.emit(messages.TextDelta{Stream: w.a.task.Name, Text: "x"})
	case 2:
		w.calls++
		w.emit(messages.ToolStarted{Call: fmt.Sprintf("%s%d", w.name(), w.calls), Tool: "t"})
	case 3:
		w.emit(messages.TextDone{Stream: "s", Text: "x", SHA256: "wrong"})
	case 4, 5:
		w.ask()
	case 6, 7:
		w.want()
	case 8:
		w.verdict, w.said = make(chan error, 4), w.s.judge.Peek().Seq
		w.s.post(&commitRequest{w.verdict})
	case 11, 12:
		w.heard = make(chan answer, 4)
		w.s.post(&takeMessages{w.a, "call" + strconv.Itoa(w.left), w.left%2 == 0, w.heard})
	case 9, 10:
		w.keep("k" + string(rune('0'+w.s.dice.IntN(2))))
	}
}

// keep makes a step, unless the log had it when the attempt began. Then readers have it as well.
func (w *simWorker) keep(name string) {
	before, known := w.a.steps[name]
	if w.a.steps == nil {
		w.a.steps = map[string]messages.StepKept{}
	}
	w.a.steps[name] = messages.StepKept{}
	switch {
	case known && before.Step == "":
	case before.Result != nil:
		w.s.say("%s finds %s", w.name(), name)
		w.isKept(name, string(before.Result))
	default:
		w.s.say("%s keeps %s", w.name(), name)
		w.keeps, w.verdict = name, make(chan error, 4)
		w.s.post(&emission{attempt: w.a, body: messages.StepKept{Step: name, Result: fmt.Appendf(nil, "%q", w.name())}, verdict: w.verdict, durable: true})
	}
}

func (w *simWorker) isKept(name, result string) {
	for _, k := range w.s.readers.Peek().Kept {
		if k.Task == w.a.task.Name && k.Step == name && string(k.Result) == result {
			return
		}
	}
	w.s.fail("%s has the result %s of %s, and that is not durable", w.name(), result, name)
}

func (w *simWorker) emit(body messages.Body) {
	e := &emission{attempt: w.a, body: body}
	if messages.KindOf(body).Level() != messages.Delta {
		w.verdict = make(chan error, 4)
		e.verdict = w.verdict
	}
	w.s.post(e)
}

func (w *simWorker) ask() {
	w.answer = make(chan answer, 4)
	w.asked = "q" + string(rune('0'+w.s.dice.IntN(2)))
	in := messages.InputRequired{Request: w.asked, Prompt: "?", TimeoutMS: 20_000}
	if w.asked == "q1" {
		in.InputKind = messages.InputSecret
	}
	w.s.say("%s asks %s", w.name(), w.asked)
	w.s.post(&question{attempt: w.a, body: in, reply: w.answer})
}

func (w *simWorker) want() {
	w.birth = make(chan childStart, 4)
	name := "c" + string(rune('0'+w.s.dice.IntN(3)))
	w.wanted = w.a.task.Name + name
	w.s.say("%s wants child %s", w.name(), name)
	w.s.post(&childWanted{w.a, name, Job{Name: "child"}, messages.RunQueued{}, w.birth})
}

// heed takes the replies that have come, or leaves without them because it was cancelled.
func (w *simWorker) heed() {
	if w.waits() && w.answer != nil {
		w.s.post(&stopWaiting{request: w.asked, reply: w.answer})
	}
	for _, n := range []int{len(w.verdict), len(w.answer), len(w.birth), len(w.heard)} {
		if n > 1 {
			w.s.fail("%s got %d replies", w.name(), n)
		}
	}
	if len(w.answer) == 1 {
		w.check(<-w.answer)
	}
	if len(w.heard) == 1 {
		for _, said := range (<-w.heard).said {
			if now, _ := w.s.readers.Message(said.Message); now != said || now.Task != w.a.task.Name {
				w.s.fail("%s has the message %v, the log %v", w.name(), said, now)
			}
		}
	}
	if len(w.birth) == 1 {
		if b := <-w.birth; b.err == nil {
			if id := w.s.names[w.wanted]; id != "" && id != b.id {
				w.s.fail("%s is given %s as the child that was %s", w.name(), b.id, id)
			}
			w.s.names[w.wanted] = b.id
		}
	}
	if len(w.verdict) == 1 && <-w.verdict == nil {
		if w.s.durable < w.said {
			w.s.fail("%s has committed up to %d, durable is %d", w.name(), w.said, w.s.durable)
		}
		if w.keeps != "" {
			w.isKept(w.keeps, fmt.Sprintf("%q", w.name()))
		}
	}
	w.verdict, w.said, w.keeps, w.answer, w.birth, w.heard = nil, 0, "", nil, nil, nil
}

// check: the task sees an answer when it is durable.
func (w *simWorker) check(a answer) {
	if a.err != nil {
		return
	}
	in, _ := w.s.readers.Input(w.asked)
	if !in.Closed {
		w.s.fail("%s has an answer to %s that is not durable", w.name(), w.asked)
	}
	if in.Kind != messages.InputSecret && string(a.value) != string(in.Value) {
		w.s.fail("%s has the answer %s to %s, the log %s", w.name(), a.value, w.asked, in.Value)
	}
}

func (w *simWorker) end() {
	w.done = true
	switch w.s.dice.IntN(12) {
	case 0:
		w.err = errors.New("its own")
	case 1:
		w.err = supervision.RetryAfter(time.Second, errors.New("busy"))
	case 2:
		w.err = &supervision.Crash{Value: "work", During: w.name()}
	case 3:
		w.err = w.cause
	case 4:
		if w.err = context.DeadlineExceeded; w.cause == nil {
			w.err = nil
		}
	default:
		w.result = json.RawMessage(fmt.Sprintf("%q", w.name()))
		_ = w.a.setOutcome(func() { w.a.result = w.result })
	}
	w.s.say("%s returns %v", w.name(), w.err)
	if w.actor.alive {
		w.actor.inbox = append(w.actor.inbox, w)
	}
	if w.onEnd != nil {
		w.onEnd()
	}
}

// simChild is a sub-run.
type simChild struct {
	s        *sim
	id       messages.RunID
	born     bool
	canceled bool
	waits    bool
	over     bool
	left     int
}

func (s *sim) child(id messages.RunID) *simChild {
	for _, c := range s.broods {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (s *sim) named(id messages.RunID) *simChild {
	if s.child(id) != nil {
		s.fail("child %s is born twice", id)
	}
	if _, known := s.readers.Child(id); !known && !s.lost {
		s.fail("child %s is born before its name is durable", id)
	}
	c := &simChild{s: s, id: id, left: s.dice.IntN(4)}
	s.broods = append(s.broods, c)
	return c
}

func (s *sim) bear(o *childRun) {
	s.say("  bear %s", o.id)
	if s.one(10) {
		o.reply <- childStart{err: errTrouble}
		s.stillborn(o)
		return
	}
	s.named(o.id).born = true
	o.reply <- childStart{id: o.id}
}

func (s *sim) stillborn(o *childRun) {
	s.say("  stillborn %s", o.id)
	c := s.named(o.id)
	c.over = true
	s.after(time.Millisecond, "stillborn", func() { s.post(&childOver{id: o.id, status: messages.Canceled, cause: messages.CauseCanceledByUser}) })
}

func (c *simChild) act() {
	if c.left--; c.left > 0 && !c.canceled {
		c.waits = !c.waits
		c.s.post(&childWaits{id: c.id, waits: c.waits})
		return
	}
	c.over = true
	end := &childOver{id: c.id, status: messages.Completed, cause: ""}
	if c.canceled {
		end = &childOver{id: c.id, status: messages.Canceled, cause: messages.CauseCanceledByUser}
	}
	c.s.say("child %s ends: %s", c.id, end.status)
	c.s.post(end)
}
