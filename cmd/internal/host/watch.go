package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/http"
)

// Watch runs a job that asks the model that flags name, and shows its events. It returns the error that the program ends with. Like any other reader, it
// knows only what the events say.
func (p *Program) Watch(ctx context.Context, job actors.Job, limits messages.Limits, in *store.Flags, show *terminal.Display) error {
	show.Works = terminal.Model
	return p.WatchWith(ctx, job, actors.Options{Limits: limits}, in, show, nil)
}

// WatchWith is Watch for other jobs, with other options than limits, and with the door of an agent; nil is none.
func (p *Program) WatchWith(ctx context.Context, job actors.Job, o actors.Options, in *store.Flags, show *terminal.Display, d *AgentDoor) error {
	var jobs []actors.Definition
	if d != nil {
		jobs = d.define()
	}
	system, runStore, done, err := p.Open(ctx, in, jobs...)
	if err != nil {
		return err
	}
	if err := runStore.WritesBelow(ctx, show.Folder); err != nil {
		return errors.Join(err, done())
	}
	if d != nil {
		stop, err := d.serve(system)
		if err != nil {
			return errors.Join(err, done())
		}
		defer stop()
	}
	show.Kept, show.Own, show.Works = runStore.Journal != nil, true, cmp.Or(show.Works, terminal.Program)
	defer show.View.Leave()
	stop := func() {}
	if show.Kept && (show.Ask != nil || show.Served) {
		if stop, err = p.reachable(system, runStore, in.Folder(p.Env), show.Folder); err != nil {
			return &exit.Error{Code: exit.Configuration, Err: errors.Join(fmt.Errorf("nobody could answer: %w", err), done())}
		}
	}
	attached, first := interruptible(ctx, show, show.LeaveNow)
	state, err := follow(ctx, attached, system, job, o, show)
	stop() // readers have their answers before the journal closes
	err = errors.Join(err, done())
	by := first()
	if err != nil {
		return err
	}
	return outcome(show, state, by)
}

// ownSocket is the socket of a process that serves its own runs, and ends with them.
const ownSocket = "runs.sock"

// reachable serves the runs on a socket in their folder, so that "lastword runs --state" can answer their questions.
func (p *Program) reachable(system *actors.System, runStore *store.Store, folder, output string) (stop func(), err error) {
	path := filepath.Join(folder, ownSocket)
	_ = os.Remove(path) // left by a process that was killed; this process owns the folder
	listener, err := net.Listen("unix", path)
	if err == nil {
		err = errors.Join(os.Chmod(path, 0o600), runStore.Announce("unix:"+path))
	}
	secret := rand.Text()
	entrance, wrong := auth.New(auth.Config{Terminal: secret})
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	forget := leaveSecret(p.Env, "unix:"+path, secret)
	end := RunBeside(func(ctx context.Context) {
		api := entrance.Wrap(http.New(door.New(door.Config{Runs: system, Redact: p.Secrets.Bytes,
			Open: func(ctx context.Context, run messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
				return openKept(ctx, []string{settings.Absolute(output)}, run, a)
			}})))
		_ = server.Serve(ctx, listener, api, server.Limits{Drain: time.Second}) // the run continues without it
	})
	return func() { forget(); end() }, nil
}

// Open starts a runtime for the program's own runs, and for runs of the jobs. runStore.Journal is nil if the events end
// with the process. done closes the runtime.
func (p *Program) Open(ctx context.Context, in *store.Flags, jobs ...actors.Definition) (system *actors.System, runStore *store.Store, done func() error, err error) {
	opened, err := in.Open(ctx, p.Env, p.Secrets, zap.NewNop(), 0)
	if err != nil {
		return nil, nil, nil, exit.Misconfigured(err)
	}
	config := p.Actors
	config.Jobs = append(config.Jobs, jobs...)
	if config.Prices, err = p.readPrices(); err != nil {
		return nil, nil, nil, errors.Join(err, opened.Close())
	}
	if opened.Journal != nil {
		config.Journal = opened.Journal
	}
	if system, err = p.start(ctx, config); err != nil {
		return nil, nil, nil, &exit.Error{Code: exit.Configuration, Err: errors.Join(err, opened.Close())}
	}
	return system, opened, func() error { return errors.Join(system.Close(ctx), opened.Close()) }, nil
}

// outcome returns the error that the program ends with after the run.
func outcome(show *terminal.Display, state messages.State, by os.Signal) error {
	if show.Lost != nil && !errors.Is(show.Lost, terminal.ErrUnread) {
		return &exit.Error{Code: exit.Failed, Err: fmt.Errorf("cannot write to stdout: %w", show.Lost)}
	}
	if code := exit.OfRun(state, by); code != exit.Completed {
		return &exit.Error{Code: code}
	}
	return nil
}

// follow runs the job and reads to the end of the run, even if attached ends earlier.
func follow(ctx, attached context.Context, system *actors.System, job actors.Job, o actors.Options,
	show *terminal.Display) (messages.State, error) {
	o.Mode = messages.Attached
	run, err := system.Start(attached, job, o)
	if err != nil {
		return messages.State{}, err
	}
	state, err := show.Follow(ctx, withQuestions(ownRun{run, system}, attached, show))
	if err != nil {
		return state, errors.Join(err, run.Cancel(ctx, "its reader failed"))
	}
	show.Close(state)
	return state, nil
}

// asks is a run, including its sub-runs, whose questions can be answered.
type asks interface {
	terminal.Run
	ID() messages.RunID
	Tree(ctx context.Context, after uint64) iter.Seq2[messages.Event, error]
	Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage) error
}

// ownRun is a run of this program's runtime.
type ownRun struct {
	*actors.Run
	system *actors.System
}

// Tree returns the events of the run and of its sub-runs, one by one.
func (r ownRun) Tree(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return messages.Each(r.system.Follow(ctx, r.ID(), messages.FollowOptions{After: after, Tree: true}))
}

func (r ownRun) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage) error {
	return r.system.Answer(ctx, id, request, value, "")
}

// asking is a run whose questions are put to the user, one after the other, while its events are read.
type asking struct {
	asks
	attached context.Context // canceled when the user interrupts
	show     *terminal.Display
}

// withQuestions returns the run. If there is a user, its questions are put to the user.
func withQuestions(run terminal.Run, attached context.Context, show *terminal.Display) terminal.Run {
	if of, ok := run.(asks); ok && show.Ask != nil {
		return asking{of, attached, show}
	}
	return run
}

// Plain returns the run without the questions.
func (a asking) Plain() terminal.Run { return a.asks }

// Events yields the events of the run itself, not of its sub-runs.
func (a asking) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		type question struct {
			run     messages.RunID
			request string
		}
		open := map[question]context.CancelFunc{}
		var (
			turn   sync.Mutex // one question is asked at a time
			askers sync.WaitGroup
		)
		defer askers.Wait() // after end, which withdraws the questions
		unanswered, end := context.WithCancel(a.attached)
		defer end()
		for e, err := range a.Tree(ctx, after) {
			if err != nil {
				yield(messages.Event{}, err)
				return
			}
			if e.RunID == a.ID() && !yield(e, nil) {
				return
			}
			switch b := e.Body.(type) {
			case messages.InputRequired:
				waits, over := context.WithCancel(unanswered)
				open[question{e.RunID, b.Request}] = over
				askers.Go(func() {
					turn.Lock()
					defer turn.Unlock()
					a.ask(waits, e.RunID, b)
				})
			case messages.InputReceived:
				if over := open[question{e.RunID, b.Request}]; over != nil {
					over()
				}
			}
		}
	}
}

// ask asks the user until the run accepts the answer. The question may be settled elsewhere first.
func (a asking) ask(ctx context.Context, id messages.RunID, in messages.InputRequired) {
	prompt := in.Prompt
	for ctx.Err() == nil {
		release := a.show.Hold()
		value, err := a.show.Ask(ctx, id, in)
		release()
		if err == nil {
			err = a.Answer(ctx, id, in.Request, value)
		}
		if messages.CodeOf(err) != messages.CauseInvalidInput {
			return
		}
		in.Prompt = prompt + "\n" + err.Error()
	}
}

// WatchRemote shows a run that another process owns, and returns the error that the program ends with. Ctrl-C ends only
// the watching: then left, which may be nil, says what becomes of the run.
func WatchRemote(ctx context.Context, run terminal.Run, show *terminal.Display, left func() error) error {
	show.Kept = true
	defer show.View.Leave()
	watching, first := interruptible(ctx, show, show.LeaveNow)
	state, err := show.Follow(watching, withQuestions(run, watching, show))
	by := first()
	switch {
	case by != nil:
		interrupted := &exit.Error{Code: exit.OfSignal(by)}
		if left != nil && !show.Quiet {
			interrupted.Err = left()
		}
		return interrupted
	case err != nil:
		return err
	}
	show.Close(state)
	return outcome(show, state, nil)
}

// WatchOwn is WatchRemote for a run that this program has started: the first Ctrl-C cancels the run, the second one
// leaves. If the run stays, a closed terminal leaves it, too. After the end of the run it calls download.
func (r *Remote) WatchOwn(ctx context.Context, run OwnRemote, show *terminal.Display, download func(messages.State) error) error {
	show.Kept, show.Own = true, true
	defer show.View.Leave()
	attached, first := interruptible(ctx, show, func() {
		if show.LeaveNow(); !show.Quiet {
			fmt.Fprintln(show.Stderr, "lastword:", r.goesOn(messages.State{RunID: run.Run, Canceling: true}))
		}
	})
	canceled := make(chan error, 1)
	unasked := context.AfterFunc(attached, func() {
		if run.Stays && signalOf(attached) == syscall.SIGHUP {
			leaveNow(exit.Terminated, show.LeaveNow)
		}
		canceled <- run.Cancel(ctx, "interrupted")
	})
	state, err := show.Follow(ctx, withQuestions(run, attached, show))
	if !unasked() {
		err = errors.Join(err, <-canceled)
	}
	by := first()
	if err != nil {
		return err
	}
	if err := download(state); err != nil {
		return &exit.Error{Code: max(exit.OfRun(state, by), exit.Failed), Err: err}
	}
	show.Close(state)
	return outcome(show, state, by)
}

// repeatedSignal is the time within which a second SIGTERM is ignored, because timeout(1) sends the signal both to the
// program and to its process group. A SIGHUP always is, since both the shell and the system send it.
const repeatedSignal = 100 * time.Millisecond

// Ending returns the signals that end a program in order: Ctrl-C, SIGTERM and, unless nohup ignores it, the SIGHUP of a
// terminal that closes.
func Ending() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// Interruptible returns a context that ends at the first of the signals of [Ending]. At the second one, the process exits at
// once. The returned function ends the context, and returns the first signal or nil. After that, signals are ignored,
// because the process is about to exit with the code of its run.
func Interruptible(ctx context.Context, leave func()) (context.Context, func() os.Signal) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, Ending()...)
	attached, end := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case s := <-signals:
			end(signaled{s})
			if s = another(signals, s, stopped); s != nil {
				leaveNow(exit.OfSignal(s), leave)
			}
		case <-stopped:
		}
	})
	return attached, func() os.Signal {
		close(stopped)
		waiting.Wait()
		defer end(nil)
		return signalOf(attached)
	}
}

// signaled is the cause of a context that a signal has ended.
type signaled struct{ os.Signal }

func (s signaled) Error() string { return s.String() + " signal received" }

// signalOf returns the signal that has ended the context, or nil.
func signalOf(ctx context.Context) os.Signal {
	s, _ := errors.AsType[signaled](context.Cause(ctx))
	return s.Signal
}

// interruptible is Interruptible for a run that is shown: after the first signal, the readers of its output have five
// seconds.
func interruptible(ctx context.Context, show *terminal.Display, leave func()) (context.Context, func() os.Signal) {
	attached, first := Interruptible(ctx, leave)
	calm := context.AfterFunc(attached, show.Hurry)
	return attached, func() os.Signal { calm(); return first() }
}

// another waits for a second signal. It returns nil if none came.
func another(signals <-chan os.Signal, first os.Signal, stopped <-chan struct{}) os.Signal {
	for received := time.Now(); ; {
		select {
		case s := <-signals:
			if s != syscall.SIGHUP && (s != syscall.SIGTERM || s != first || time.Since(received) > repeatedSignal) {
				return s
			}
		case <-stopped:
			return nil
		}
	}
}

// leaveNow exits at once. It does not wait for a terminal that the user has stopped with Ctrl-S.
func leaveNow(code int, leave func()) {
	time.AfterFunc(200*time.Millisecond, func() { os.Exit(code) })
	leave()
	os.Exit(code)
}
