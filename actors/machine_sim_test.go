package actors

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// machineSeeds is how many schedules TestSimMachine plays: a million with LASTWORD_SIM=1.
func machineSeeds() uint64 {
	if os.Getenv("LASTWORD_SIM") != "" {
		return 1_000_000
	}
	return 20_000
}

// TestSimMachine plays schedules: a seed makes a job, what its tasks do, what people ask for and what fails, and chooses
// which of all that can happen next does, as long as the run is not over. A seed that fails is named; -seed prints its
// schedule step by step.
func TestSimMachine(t *testing.T) {
	if one := flag.Lookup("seed").Value.String(); one != "-1" {
		seed, _ := strconv.ParseUint(one, 10, 64)
		s := newSim(seed)
		s.trace = func(line string) { fmt.Fprintln(t.Output(), line) }
		if err := s.play(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		return
	}
	ends, moves := map[string]int{}, 0
	for seed := range machineSeeds() {
		s := newSim(seed)
		if err := s.play(); err != nil {
			t.Fatalf("seed %d: %v\nsee it with: go test ./actors -run TestSimMachine -v -seed %d", seed, err, seed)
		}
		ends[s.ending()]++
		moves += s.moves
		if seed%100 == 0 {
			if again := newSim(seed); again.play() != nil || again.digest() != s.digest() {
				t.Fatalf("seed %d plays differently when it is played again", seed)
			}
		}
	}
	t.Logf("%d schedules, %d moves; ends: %v", machineSeeds(), moves, ends)
	for _, end := range []string{"completed", "canceled", "failed error", "failed panic", "failed deadline", "failed stalled",
		"failed node_lost", "failed journal_unavailable", "failed shutdown", "failed limit_exceeded"} {
		if ends[end] == 0 {
			t.Errorf("no run ended as %s", end)
		}
	}
}

// sim is the world around one machine.
type sim struct {
	seed  uint64
	dice  *rand.Rand
	trace func(string)
	moves int
	m     machine
	now   time.Time

	mail    []any // to the run's actor, in the order of its coming
	timers  []simTimer
	actors  []*simActor
	workers []*simWorker
	broods  []*simChild
	replies []*simReply
	kept    []simKept // what waits until an event is durable

	log     []messages.Event
	judge   messages.Fold // of the log, beside the ledger's own
	readers messages.Fold // of what is durable
	durable uint64
	lost    bool  // another node has the run
	starved bool  // the journal takes nothing
	cause   error // with which the run's work was cancelled
	left    bool
	expired bool // the watchdog has ended the run
	wrong   error

	calls  map[string]int            // of attempts
	names  map[string]messages.RunID // of children, by their task and its name for them
	result json.RawMessage
	faults int // that may still happen
	wishes int // of people, likewise
	lag    int // how seldom the run's actor takes a message
}

type simTimer struct {
	at   time.Time
	name string
	fire func()
}

type simKept struct {
	seq     uint64
	message any          // for the run, or
	reply   chan<- error // for who asked
}

// simReply is somebody who waits for an answer, and gets exactly one.
type simReply struct {
	what string
	ch   chan error
	got  bool
	ok   func() error // what must hold when the answer is nil
}

func newSim(seed uint64) *sim {
	s := &sim{seed: seed, dice: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		calls: map[string]int{}, names: map[string]messages.RunID{}}
	s.faults, s.wishes, s.lag = s.dice.IntN(3), s.dice.IntN(8), 1+s.dice.IntN(6)
	job := Job{Name: "sim"}
	for i := range 1 + s.dice.IntN(3) {
		task := Task{Name: string(rune('a' + i)), Once: s.one(3), Policy: supervision.Policy{RetryCrash: s.one(2)}}
		if s.one(2) {
			task.Deadline = 30 * time.Second
		}
		job.Tasks = append(job.Tasks, task)
	}
	s.m = machine{job: &job, node: "n", epoch: 1, soft: 2 * time.Second, hard: 5 * time.Second,
		jitter: func() float64 { return s.dice.Float64() }, ledger: &log.Ledger{ID: "r"}}
	queued := messages.RunQueued{Job: "sim", Mode: messages.Detached}
	if s.one(4) {
		queued.After = "r_before"
	}
	_ = s.m.ledger.Record(s.now, queued, "queued")
	s.take()
	s.land(1)
	s.mail = append(s.mail, &runActorStarted{})
	return s
}

func (s *sim) one(in int) bool { return s.dice.IntN(in) == 0 }

func (s *sim) say(format string, args ...any) {
	if s.trace != nil {
		s.trace(fmt.Sprintf("%4d %s ", s.moves, s.now.Format("04:05.000")) + fmt.Sprintf(format, args...))
	}
}

func (s *sim) fail(format string, args ...any) {
	if s.wrong == nil {
		s.wrong = fmt.Errorf(format, args...)
	}
}

// enough is how many moves a schedule may have: its people, faults, and what its tasks say are few.
const enough = 2000

// play makes moves until the run is over and everything is at rest.
func (s *sim) play() error {
	for s.wrong == nil {
		if s.moves++; s.moves > enough {
			return fmt.Errorf("the run is not over after %d moves: phase %T, %d actors, working %v, children %d",
				enough, s.m.phase, s.m.actors, s.m.working != nil, len(s.m.children))
		}
		moves := s.possible()
		if len(moves) == 0 {
			break
		}
		moves[s.dice.IntN(len(moves))]()
	}
	if s.wrong == nil {
		s.rest()
	}
	return s.wrong
}

// possible lists what may happen next. What is listed more often happens more often.
func (s *sim) possible() (moves []func()) {
	add := func(move func()) { moves = append(moves, move) }
	if len(s.mail) > 0 {
		for range 1 + 6/s.lag {
			add(s.handle)
		}
	}
	for _, w := range s.workers {
		if w.able() {
			add(w.act)
			add(w.act)
		}
	}
	for _, a := range s.actors {
		if a.able() {
			add(a.turn)
		}
	}
	for _, c := range s.broods {
		if c.born && !c.over {
			add(c.act)
		}
	}
	if !s.lost && s.durable < s.judge.Peek().Seq {
		add(s.append)
	}
	if len(s.timers) > 0 && (len(moves) == 0 || s.one(8)) {
		add(s.tick)
	}
	if !s.left && s.wishes > 0 && s.one(6) {
		add(s.people)
	}
	if !s.left && s.faults > 0 && s.one(8) {
		add(s.fault)
	}
	if len(moves) == 0 && !s.left && !s.expired && !s.m.clocks.waits {
		add(s.watchdog)
	}
	return moves
}

// watchdog ends a run in which nothing happens any more.
func (s *sim) watchdog() {
	s.expired = true
	cause := messages.CauseStalled
	if s.m.clocks.children {
		cause = messages.CauseDeadline
	}
	s.say("the watchdog: %s", cause)
	s.post(&expireRun{about: cause})
}

// rest holds the world to what must be true at the end.
func (s *sim) rest() {
	switch {
	case !s.left:
		s.fail("nothing can happen any more, and the run is not over: phase %T, %d actors, working %v, children %d",
			s.m.phase, s.m.actors, s.m.working != nil, len(s.m.children))
	case !s.judge.Peek().Status.IsEnded():
		s.fail("the run is over without a terminal")
	}
	for _, r := range s.replies {
		if r.look(s); !r.got {
			s.fail("%s was never answered", r.what)
		}
	}
}

func (s *sim) ending() string {
	end := s.judge.Peek()
	if end.Status == messages.Failed {
		return "failed " + string(end.End.Cause)
	}
	return string(end.Status)
}

func (s *sim) digest() uint64 {
	h := fnv.New64a()
	for _, e := range s.log {
		fmt.Fprint(h, e.Seq, e.Time, e.Kind(), e.Message)
	}
	fmt.Fprint(h, s.moves)
	return h.Sum64()
}

// handle has the run's actor take its next message.
func (s *sim) handle() {
	message := s.mail[0]
	s.mail = s.mail[1:]
	switch m := message.(type) {
	case *delivery:
		m.to <- m.answer
		return
	case *taskActorEnded:
		if w := s.working(); w != nil && w.a.task.Name == m.task {
			m.running = true
			w.onEnd = func() { s.post(&lateWorkEnded{about: w.a}) }
		}
	}
	s.say("run takes %T%+v", message, message)
	if s.left {
		replyLeft(message, errOver("r"), errTakesNone("r"), func(to chan<- error) { s.do(&effect{do: doKept, seq: s.judge.Peek().Seq, reply: to}) })
		return
	}
	before := s.m.phase
	effects := s.m.step(s.now, message)
	if s.take(); s.m.phase != before {
		s.say("  phase %T", s.m.phase)
	}
	for i := range effects {
		s.do(&effects[i])
	}
	for _, r := range s.replies {
		r.look(s)
	}
	if family := s.judge.OpenChildren() > 0; family != s.m.clocks.children {
		s.fail("the clocks say family %t", s.m.clocks.children)
	}
}

func (s *sim) post(message any) { s.mail = append(s.mail, message) }

// take has what was recorded judged a second time.
func (s *sim) take() {
	fresh := s.m.ledger.Fresh
	s.m.ledger.Fresh = fresh[:0]
	for _, e := range fresh {
		s.say("  %d %s %s", e.Seq, e.Kind(), e.Message)
		if e.From != e.Seq || e.Seq != s.judge.Peek().Seq+1 {
			s.fail("event %d..%d follows %d", e.From, e.Seq, s.judge.Peek().Seq)
		}
		canceling := s.judge.Peek().Canceling
		if err := s.judge.Apply(e); err != nil {
			s.fail("the ledger took %s down, which is not legal: %v", e.Kind(), err)
		}
		s.log = append(s.log, e)
		s.law(e, canceling)
	}
}

// law is what an event may not say, whatever the judge of events allows.
func (s *sim) law(e messages.Event, canceling bool) {
	switch b := e.Body.(type) {
	case messages.TaskCompleted:
		if w := s.worker(b.Task, b.Attempt); w == nil || !w.done || w.err != nil {
			s.fail("attempt %d of %s is said to have completed", b.Attempt, b.Task)
		} else if w.result != nil {
			s.result = w.result
		}
	case messages.ChildEnded:
		if c := s.child(b.Child); c == nil || !c.over {
			s.fail("child %s is said to have ended", b.Child)
		}
	case messages.RunCompleted:
		if string(b.Result) != string(s.result) {
			s.fail("the result is %s, not %s", b.Result, s.result)
		}
	}
	if e.IsTerminal() && canceling != (e.Kind() == messages.KindRunCanceled) {
		s.fail("a run that is canceling: %t, ends as %s", canceling, e.Kind())
	}
}

// leave is once, when nothing of the run is alive that was not given up.
func (s *sim) leave() {
	if s.left || !s.judge.Peek().Status.IsEnded() {
		s.fail("the run leaves twice, or without its terminal")
	}
	s.left, s.timers = true, nil
	for _, w := range s.workers {
		if w.running() {
			s.fail("%s works on at the terminal", w.name())
		}
	}
	for _, a := range s.actors {
		if !a.gone {
			s.fail("the actor of %s is alive at the terminal", a.task)
		}
	}
}

func (s *sim) append() {
	if s.starved {
		s.starved = false
		s.say("the journal takes blocks again")
	}
	after := s.judge.Peek().Seq - s.durable
	s.land(s.durable + 1 + s.dice.Uint64N(after))
}

// land makes the log durable up to the number, and tells who waits for that, in order.
func (s *sim) land(seq uint64) {
	for _, e := range s.log[s.durable:seq] {
		if err := s.readers.Apply(e); err != nil {
			s.fail("readers: %v", err)
		}
	}
	s.durable = seq
	s.say("durable to %d", seq)
	rest := s.kept[:0]
	for _, k := range s.kept {
		switch {
		case k.seq > seq:
			rest = append(rest, k)
		case k.reply != nil:
			k.reply <- nil
		default:
			s.post(k.message)
		}
	}
	s.kept = rest
}

// trouble ends the waiting of those who asked: the log is another's now, or nobody knows.
func (s *sim) trouble(why error) {
	rest := s.kept[:0]
	for _, k := range s.kept {
		switch {
		case k.reply != nil:
			k.reply <- why
		case s.lost:
			s.unkept(k.message)
		default:
			rest = append(rest, k)
		}
	}
	s.kept = rest
}

// unkept is the run actor's: what is recorded will not be durable here.
func (s *sim) unkept(message any) {
	if named, ok := message.(*childRecorded); ok {
		s.broods = append(s.broods, &simChild{s: s, id: named.about.id, over: true})
		s.post(&childNotStarted{about: named.about})
	}
}

var errTrouble = errors.New("trouble")

func (s *sim) tick() {
	first := 0
	for i, t := range s.timers {
		if t.at.Before(s.timers[first].at) {
			first = i
		}
	}
	t := s.timers[first]
	s.timers = append(s.timers[:first:first], s.timers[first+1:]...)
	if t.at.After(s.now) {
		s.now = t.at
	}
	s.say("timer: %s", t.name)
	t.fire()
}

func (s *sim) after(d time.Duration, name string, fire func()) {
	s.timers = append(s.timers, simTimer{s.now.Add(d), name, fire})
}

// people ask for something.
func (s *sim) people() {
	s.wishes--
	r := &simReply{ch: make(chan error, 4)}
	if s.one(4) {
		s.say("somebody cancels")
		r.what = "a cancel"
		r.ok = func() error {
			if !s.readers.Peek().Canceling && !s.readers.Peek().Status.IsEnded() {
				return errors.New("a cancel is accepted that is not durable")
			}
			return nil
		}
		s.post(&cancelRun{id: "x", by: "p", reason: "enough", reply: r.ch})
	} else if !s.judge.Peek().HeldAt.IsZero() && s.one(2) {
		s.say("somebody releases the run")
		r.what = "a release"
		r.ok = func() error {
			if now := s.readers.Peek(); now.After != "" && !now.Canceling {
				return errors.New("a release is accepted that is not durable")
			}
			return nil
		}
		s.post(&releaseRun{by: "p", reply: r.ch})
	} else if s.one(2) {
		said := messages.Said{Message: "m" + strconv.Itoa(s.dice.IntN(3)), Mode: messages.Steer, Content: "x"}
		if s.one(3) {
			said.Mode, said.Content = messages.Interrupt, "y"
		}
		revoke := s.one(4)
		s.say("somebody says %s, or takes it back: %t", said.Message, revoke)
		r.what = "a message " + said.Message
		r.ok = func() error {
			if now, _ := s.readers.Message(said.Message); now.Seq == 0 || revoke && now.Dropped == "" || !revoke && now.Content != said.Content {
				return errors.New("a message is accepted that is not durable")
			}
			return nil
		}
		s.post(&sayRun{said: said, revoke: revoke, reply: r.ch})
	} else {
		request, id := "q"+strconv.Itoa(s.dice.IntN(2)), []string{"", "k"}[s.dice.IntN(2)]
		s.say("somebody answers %s", request)
		r.what = "an answer to " + request
		r.ok = func() error {
			if in, _ := s.readers.Input(request); !in.Closed {
				return errors.New("an answer is accepted that is not durable")
			}
			return nil
		}
		s.post(&answerInput{id: id, request: request, value: json.RawMessage(strconv.Itoa(s.wishes)), principal: "p", reply: r.ch})
	}
	s.replies = append(s.replies, r)
}

// look takes what has come.
func (r *simReply) look(s *sim) {
	for len(r.ch) > 0 {
		if err := <-r.ch; err == nil {
			if err := r.ok(); err != nil {
				s.fail("%v", err)
			}
		}
		if r.got {
			s.fail("%s was answered twice", r.what)
		}
		r.got = true
	}
}

// fault makes something fail.
func (s *sim) fault() {
	s.faults--
	switch n := s.dice.IntN(9); {
	case n < 4:
		for _, a := range s.actors {
			if a.alive && s.one(2) {
				a.strike(n)
				return
			}
		}
	case n == 4 && !s.lost:
		s.say("another node takes the run over")
		s.lost = true
		s.trouble(errTrouble)
		s.post(&expireRun{about: messages.CauseNodeLost})
	case n == 5 && !s.lost:
		s.say("the journal takes nothing")
		s.starved = true
		s.trouble(errTrouble)
		s.post(&expireRun{about: messages.CauseJournalUnavailable})
	case n == 6:
		s.post(&overLimit{1})
	default:
		causes := []messages.Code{messages.CauseDeadline, messages.CauseStalled, messages.CauseShutdown}
		s.post(&expireRun{about: causes[s.dice.IntN(3)]})
	}
}

// A cancel or an answer that comes after a run was handed over fails: nothing has recorded it.
func TestAskedAfterHandOver(t *testing.T) {
	r := &runActor{left: true, run: &activeRun{id: "r"}}
	r.run.leaving.Store(true)
	reply := make(chan error, 1)
	for _, asked := range []any{&cancelRun{reply: reply}, &answerInput{reply: reply}, &sayRun{reply: reply}, &releaseRun{reply: reply}, &moveRun{reply: reply}} {
		if r.step(nil, asked); <-reply != errHandedOver {
			t.Errorf("%T is answered as if it was done", asked)
		}
	}
}
