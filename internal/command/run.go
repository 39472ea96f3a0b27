package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/supervision/fault"
)

const (
	// termGrace is how long a program may take to end after TERM. The runtime waits for tasks a little longer.
	termGrace = 1500 * time.Millisecond
	// pipeGrace is how long a pipe may stay open after its program has ended, because a process that left the group
	// holds it. What is in the pipe then is still read.
	pipeGrace = 300 * time.Millisecond
	// mutedGrace is how long a program of a Speaker may go on after it has closed its stdout: it can say nothing more.
	mutedGrace = 5 * time.Second
)

// runner runs a command, once for each attempt of its task.
type runner struct {
	*Command
	Config    Config
	arguments []string
	values    map[string]any
}

// execution is one attempt: a running program.
type execution struct {
	failed atomic.Bool // a limit or an output that cannot be written has ended the program
	*runner
	task    *actors.TaskContext
	process Process
	status  syscall.WaitStatus
	ooms    int64       // how many processes the system had killed for lack of memory when the program started
	close   []io.Closer // our ends of the pipes, and whatever else the attempt has open

	inside []string // what Config.Inside gave
	leave  func()   // ends it; may be nil

	stdout  *texts
	spoken  *spoken // reads stdout; nil if that is a text
	stderr  *logLines
	channel *channel
	ctx     context.Context // of the attempt
	stdin   io.WriteCloser  // takes answers; nil if the program has another stdin
	replies io.Writer       // takes answers on descriptor 4
	file    string          // path of LASTWORD_RESULT
	killed  sync.Once
	limits  limits
	end     context.CancelCauseFunc // ends the attempt
}

// run is the task.
func (r *runner) run(ctx context.Context, t *actors.TaskContext) error {
	if err := r.confirm(ctx, t); err != nil {
		return err
	}
	if fault.Hit(ctx, fault.CommandFail) != nil {
		return r.exited(messages.Errorf(codeExit, "%s exited with 1: injected", r.arguments[0]), 1)
	}
	of := ctx // the task's; ctx also ends if the attempt fails
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	x := &execution{runner: r, task: t, ctx: ctx, end: end}
	defer x.release()
	readers, err := x.start(t)
	if err != nil {
		if x.spoken != nil {
			_, _ = x.spoken.speaker.End(ctx, err, nil)
		}
		return r.exited(startError(r.arguments[0], r.Dir, err), 0)
	}
	stop := context.AfterFunc(ctx, func() {
		if x.spoken == nil || !x.spoken.over(context.Cause(ctx)) {
			x.terminate()
		}
		if r.Config.Stopping != nil {
			r.Config.Stopping()
		}
	})
	defer stop()
	t.Go(func(context.Context) error { // a limit ends the whole task, wherever it waits
		if <-ctx.Done(); context.Cause(ctx) != context.Canceled {
			return context.Cause(ctx)
		}
		return nil
	})
	limit := x.fail
	if x.spoken != nil {
		limit = func(why error) { x.spoken.over(why) }
	}
	x.limits.start(r.arguments[0], r.Timeout, r.Idle, limit)
	defer x.limits.end()
	var reading sync.WaitGroup
	for _, reader := range readers {
		reading.Add(1)
		t.Go(func(ctx context.Context) error {
			defer reading.Done()
			if reader.copy(ctx); reader.sink == sink(x.spoken) {
				time.AfterFunc(mutedGrace, func() { x.spoken.over(nil) })
			}
			return nil
		})
	}
	x.status = x.process.Wait()
	if kept := x.process.End(); len(kept) > 0 {
		_ = t.Log(messages.LogInfo, fmt.Sprintf("%s has left processes, as children: keep says: %s", r.arguments[0], strings.Trim(fmt.Sprint(kept), "[]")))
	}
	for _, reader := range readers {
		defer time.AfterFunc(pipeGrace, reader.stopSoon).Stop()
	}
	reading.Wait()
	x.channel.close()
	x.limits.exited()
	if x.spoken != nil {
		return x.spoken.end(ctx)
	}
	if of.Err() != nil && !x.failed.Load() { // else the code says only how it was ended
		r.say(exitCode(x.status))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := cmp.Or(x.stdout.end(), x.stderr.end()); err != nil {
		return err
	}
	if err := r.exited(x.exitError(), exitCode(x.status)); err != nil {
		return err
	}
	err = x.succeed(ctx)
	return cmp.Or(context.Cause(ctx), err)
}

// start starts the program. The readers read its output.
func (x *execution) start(t *actors.TaskContext) (_ []*reader, err error) {
	cmd := exec.Command(x.arguments[0], x.arguments[1:]...)
	cmd.Dir, cmd.Env = x.Dir, x.environment()
	if err := x.resultFile(cmd); err != nil {
		return nil, err
	}
	x.stdout = newTexts(t, x.runner, messages.StdoutText)
	x.stdout.progress = x.lineProgress(t)
	x.stderr = &logLines{task: t, stream: x.Config.Secrets.Stream(), progress: x.lineProgress(t)}
	if x.Stderr == KeepStderr {
		x.stderr.kept = newTexts(t, x.runner, messages.StderrText)
	}
	w := wiring{execution: x}
	defer w.release()
	if err := w.streams(cmd); err != nil {
		return nil, err
	}
	if hasDescriptors && x.Config.Speak == nil {
		if err := w.conversation(cmd); err != nil {
			return nil, err
		}
	}
	start := x.Config.Start
	if start == nil {
		start = startGroup
	}
	x.ooms = outOfMemory()
	x.process, err = start(cmd, x.TTY, x.Children == KeepChildren)
	return w.readers, err
}

// environment returns the variables in the operator's file, and those about lastword. Variables LASTWORD_* of this
// process may have its credentials, so no program gets them.
func (x *execution) environment() (env []string) {
	theirs := slices.DeleteFunc(slices.Clone(x.Config.Environ), func(entry string) bool {
		name := strings.ToUpper(entry)
		return strings.HasPrefix(name, "LASTWORD_") || x.Config.Speak != nil && (strings.HasPrefix(name, "CLAUDECODE=") || strings.HasPrefix(name, "CLAUDE_CODE_"))
	})
	if x.Config.Inherit {
		env = slices.Clone(theirs)
	}
	for _, entry := range x.Env {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
			continue
		}
		for _, have := range theirs {
			if name, _, _ := strings.Cut(have, "="); name == entry {
				env = append(env, have)
			}
		}
	}
	if x.Config.Inside != nil {
		x.inside, x.leave = x.Config.Inside(x.task, x.mayStart)
		env = append(env, slices.DeleteFunc(slices.Clone(x.inside), func(v string) bool {
			return x.Config.Speak != nil && strings.HasPrefix(v, "LASTWORD_")
		})...)
	}
	env = append(env, "LASTWORD_RUN="+string(x.task.RunID()), "LASTWORD_ATTEMPT="+strconv.Itoa(x.task.Attempt()))
	if hasDescriptors && x.Config.Speak == nil {
		env = append(env, "LASTWORD_EVENTS=3", "LASTWORD_EVENTS_VERSION="+strconv.Itoa(version), "LASTWORD_ANSWERS="+strconv.Itoa(answersAt))
	}
	return env
}

// terminate asks the program to end, and kills its group soon after.
func (x *execution) terminate() {
	x.killed.Do(func() {
		x.process.Terminate()
		time.AfterFunc(termGrace, x.process.Kill)
	})
}

// fail ends the attempt, and with it the program.
func (x *execution) fail(err error) {
	x.failed.Store(true)
	x.end(supervision.Permanent(err))
}

// release closes everything that is open.
func (x *execution) release() {
	for _, c := range x.close {
		c.Close()
	}
	if x.leave != nil {
		x.leave()
	}
	if x.file != "" {
		os.RemoveAll(x.file) // it may have become a folder
	}
}

// exited reports how the program ended. An error after which it may be tried again is retryable.
func (r *runner) exited(err *messages.Error, code int) error {
	if err == nil {
		r.say(0)
		return nil
	}
	switch err.Code {
	case codeNotFound:
		code = 127
	case codeNotExecutable, codeOutOfMemory:
		code = cmp.Or(code, 126)
	}
	r.say(code)
	if err.Retryable = err.Retryable || r.Retry.Times > 0 && (len(r.Retry.On) == 0 || slices.Contains(r.Retry.On, code)); err.Retryable {
		return err
	}
	return supervision.Permanent(err)
}

func (r *runner) say(code int) {
	if r.Config.Exited != nil {
		r.Config.Exited(code)
	}
}

// startError explains why a program did not start. The error is retryable if the system may have room later.
func startError(program, dir string, err error) *messages.Error {
	switch {
	case dir != "" && !isFolder(dir):
		return messages.Errorf(codeNotFound, "%s was not started: there is no folder %s; correct dir", program, dir)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return messages.Errorf(codeNotFound, "there is no program %s: name it by its path, or put it into a folder of PATH", program)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC), errors.Is(err, exec.ErrDot), errors.Is(err, syscall.EISDIR):
		return messages.Errorf(codeNotExecutable, "%s cannot be run: %v", program, err)
	case errors.Is(err, syscall.E2BIG):
		return messages.InvalidInput("%s was not started: its arguments and variables are too long for the system (E2BIG); pass long values in stdin or a file", program)
	}
	for errno, name := range map[syscall.Errno]string{syscall.ENOMEM: "ENOMEM", syscall.EAGAIN: "EAGAIN", syscall.EMFILE: "EMFILE", syscall.ENFILE: "ENFILE"} {
		if errors.Is(err, errno) { // nothing has started, so that anybody may try again
			full := messages.Errorf(codeOutOfMemory, "the system has no room to start %s: %v (%s)", program, err, name)
			full.Retryable = true
			return full
		}
	}
	return messages.Errorf(codeNotExecutable, "%s was not started: %v", program, err)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// exitError explains why the program failed. It returns nil if it succeeded.
func (x *execution) exitError() *messages.Error {
	if exitCode(x.status) == 0 {
		return nil
	}
	name, last := x.arguments[0], x.last()
	if x.status.Signaled() {
		if x.status.Signal() == syscall.SIGKILL && outOfMemory() > x.ooms {
			return messages.Errorf(codeOutOfMemory, "the system ended %s, because it had no memory left%s", name, last)
		}
		return messages.Errorf(codeSignal, "%s was ended by the signal %s%s", name, x.status.Signal(), last)
	}
	return messages.Errorf(codeExit, "%s exited with %d%s", name, exitCode(x.status), last)
}

// exitCode returns the code that a shell would report.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// limits end a program that takes too long or is silent for too long. They are the operator's, so no caller can raise
// them. They stand still while people are asked.
type limits struct {
	mu            sync.Mutex
	idle          time.Duration
	silent, whole *time.Timer // nil without a limit
	left          time.Duration
	since         time.Time
	asking        int
}

// start starts the limits. fail ends the program.
func (l *limits) start(name string, timeout, idle schedule.Duration, fail func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.idle, l.since = time.Duration(timeout), time.Duration(idle), time.Now()
	if timeout > 0 {
		l.whole = time.AfterFunc(l.left, func() {
			fail(messages.Errorf(messages.CauseDeadline, "%s took longer than %v", name, time.Duration(timeout)))
		})
	}
	if idle > 0 {
		l.silent = time.AfterFunc(l.idle, func() {
			fail(messages.Errorf(messages.CauseStalled, "%s said nothing for %v", name, time.Duration(idle)))
		})
	}
}

// heard restarts the limit on silence.
func (l *limits) heard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent != nil && l.asking == 0 {
		l.silent.Reset(l.idle)
	}
}

// ask pauses the limits until answered is called.
func (l *limits) ask() (answered func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asking++; l.asking == 1 {
		l.stop()
		l.left -= time.Since(l.since)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.asking--; l.asking > 0 {
			return
		}
		if l.since = time.Now(); l.whole != nil {
			l.whole.Reset(l.left)
		}
		if l.silent != nil {
			l.silent.Reset(l.idle)
		}
	}
}

// stop stops the timers. The caller holds mu.
func (l *limits) stop() {
	if l.whole != nil {
		l.whole.Stop()
	}
	if l.silent != nil {
		l.silent.Stop()
	}
}

// exited stops the limit on silence: the program has ended.
func (l *limits) exited() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent != nil {
		l.silent.Stop()
		l.silent = nil
	}
}

// end stops the limits permanently.
func (l *limits) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	l.whole, l.silent = nil, nil
}
