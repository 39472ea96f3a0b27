package actors

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// journalActor keeps three loops alive that the journal feeds: claims, beats and notes. A journal that fails or crashes
// there is asked again after a pause.
type journalActor struct {
	system *System
	tasks  []*supervision.Task
}

type (
	startLoops struct{}
	resumeLoop struct{ name string }
)

func (startLoops) IgnoreDeadLetterLogging() {}

func (resumeLoop) IgnoreDeadLetterLogging() {}

const loopPause = time.Second

func (a *journalActor) Receive(c actor.Context) {
	s := a.system
	switch m := c.Message().(type) {
	case *actor.Started:
		s.loops.Store(c.Self())
		if s.recovered.Load() {
			a.start(c)
		}
		s.isUp()
	case *startLoops:
		a.start(c)
	case *resumeLoop:
		a.loop(c, m.name)
	case *supervision.TaskEnded:
		if s.ctx.Err() != nil {
			return
		}
		s.log.Warn("the journal failed", zap.String("loop", m.Task.Name()), zap.Error(m.Err))
		root, self, name := s.node.Root(), c.Self(), m.Task.Name()
		time.AfterFunc(loopPause, func() { root.Send(self, &resumeLoop{name}) })
	case *actor.Stopping:
		for _, t := range a.tasks {
			t.Cancel(errClosing)
		}
	}
}

func (a *journalActor) start(c actor.Context) {
	for _, name := range []string{"claims", "beats", "notes"} {
		a.loop(c, name)
	}
}

func (a *journalActor) loop(c actor.Context, name string) {
	f := map[string]func(context.Context) error{
		"claims": a.system.claimAll, "beats": a.system.beatAll, "notes": a.system.watch}[name]
	a.tasks = slices.DeleteFunc(a.tasks, func(t *supervision.Task) bool { return !t.Running() })
	a.tasks = append(a.tasks, a.system.node.Go(a.system.ctx, name, c.Self(), c.Self(), 1,
		func(ctx context.Context, _ *supervision.Task) error { return f(ctx) }))
}

// watch takes the journal's notes.
func (s *System) watch(ctx context.Context) error {
	return s.journal.Watch(ctx, s.writer, func(n Note) {
		if n.Command != nil {
			s.obey(*n.Command)
			return
		}
		s.relay.ring(n.Run)
	})
}

// obey does what another node's caller asks of a run that this node owns.
func (s *System) obey(c Command) {
	r := s.active(c.Run)
	switch {
	case r == nil:
	case c.Cancel != nil:
		s.tellRuns(&cancelFor{r, cancelRun{id: c.ID, by: c.Cancel.By, reason: c.Cancel.Reason}})
	case c.Answer != nil:
		r.post(&answerInput{id: c.ID, request: c.Answer.Request, value: slices.Clone(c.Answer.Value), principal: c.Answer.Principal,
			reply: make(chan error, 1)})
	}
}

// command asks the owner of a run, again and again, until the run's log has what was asked for.
func (s *System) command(ctx context.Context, c Command) error {
	c.ID = cmp.Or(c.ID, strings.ToLower(rand.Text()))
	bell := make(chan struct{}, 1)
	s.relay.listen(c.Run, bell)
	defer s.relay.unlisten(c.Run, bell)
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for ask := true; ; {
		state, err := s.State(ctx, c.Run)
		if done, err := c.done(state, err); done {
			return err
		}
		if r := s.active(c.Run); r != nil && ask { // it was claimed meanwhile
			s.obey(c)
		} else if err == nil && ask {
			err = s.journal.Send(ctx, c)
		}
		if err != nil {
			s.log.Warn("a command was not sent", zap.String("run", string(c.Run)), zap.Error(err))
		}
		select {
		case <-bell:
			ask = false
		case <-again.C:
			ask = true
		case <-ctx.Done():
			return messages.Errorf(messages.CodeUnavailable,
				"run %s did not take it in time, but still may: ask again (%v)", c.Run, context.Cause(ctx))
		case <-s.ctx.Done():
			return s.errClosed()
		}
	}
}

// done reports whether the log has settled the command, and how.
func (c Command) done(state messages.State, err error) (bool, error) {
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound:
		return true, err
	case err != nil:
		return false, nil
	case c.Cancel != nil:
		return state.Canceling || state.Status.IsEnded(), nil
	}
	i := slices.IndexFunc(state.Inputs, func(in messages.Input) bool { return in.Request == c.Answer.Request })
	switch {
	case i >= 0 && state.Inputs[i].Closed && state.Inputs[i].ID == c.ID:
		return true, nil
	case i >= 0 && state.Inputs[i].Closed:
		return true, errAnswered(c.Answer.Request)
	case state.Status.IsEnded():
		return true, errOver(c.Run)
	case i < 0:
		return true, errNotAsked(c.Run, c.Answer.Request)
	}
	return false, nil
}

func errAnswered(request string) error {
	return messages.Errorf(messages.CodeConflict, "%q was answered already", request)
}

func errNotAsked(run messages.RunID, request string) error {
	return messages.Errorf(messages.CodeNotFound, "run %s has not asked %q", run, request)
}
