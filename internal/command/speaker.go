package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Speaker reads what a program writes to stdout, line by line, and says what that means to the run. No text has it then.
type Speaker interface {
	// Line takes a line, also after the run was canceled.
	Line(line []byte) error
	// Leave begins to end the program. why is the reason: a limit or a cancel, or nil if the program has done its work. The
	// program gets TERM after the returned time.
	Leave(why error) time.Duration
	// End returns the result of a program that has ended, or why the run fails. why is Leave's, and exit says how
	// the program failed.
	End(ctx context.Context, why, exit error) (result any, err error)
}

// Spoken is what a Speaker may do to its run and program.
type Spoken struct {
	Task *actors.TaskContext
	// Stdin is the program's stdin; nil if that is empty.
	Stdin io.WriteCloser
	// Heard restarts the limit on silence, which nothing else does.
	Heard func()
	// Asking pauses the limits until answered is called.
	Asking func() (answered func())
	// Over ends the program, if nothing else has begun that; why is nil if the program has done its work.
	Over func(why error)
	// Inside is what [Config.Inside] gave.
	Inside []string
}

// mostSpoken is the longest line of a Speaker.
const mostSpoken = 16 << 20

// spoken passes on the lines of stdout.
type spoken struct {
	x       *execution
	speaker Speaker
	lines   cutter
	leaving sync.Once
	why     error // set before the program gets TERM
}

// speak makes the Speaker.
func (x *execution) speak() {
	s := &spoken{x: x, lines: cutter{most: mostSpoken}}
	stdin := x.stdin
	if stdin != nil {
		stdin = &onceCloser{WriteCloser: stdin}
	}
	x.spoken, s.speaker = s, x.Config.Speak(Spoken{Task: x.task, Stdin: stdin, Heard: x.limits.heard, Asking: x.limits.ask, Over: func(why error) { s.over(why) }, Inside: x.inside})
}

// onceCloser is closed once, by whoever is first.
type onceCloser struct {
	io.WriteCloser
	once sync.Once
}

func (c *onceCloser) Close() (err error) {
	c.once.Do(func() { err = c.WriteCloser.Close() })
	return err
}

// over begins to end the program. It returns false if something else has.
func (s *spoken) over(why error) (first bool) {
	s.leaving.Do(func() {
		s.why, first = why, true
		time.AfterFunc(s.speaker.Leave(why), s.x.terminate)
	})
	return first
}

// write takes a piece of the lines. Nobody reads a line that is too long.
func (s *spoken) write(piece []byte) error {
	return s.lines.each(piece, func(line []byte, long bool) error {
		if long {
			return s.x.task.Notice(messages.NoticeStageSkipped, fmt.Sprintf("%s has printed a line of more than %s, which nobody reads: what it says there is lost", s.x.arguments[0], words.Limit(mostSpoken)))
		}
		return s.speaker.Line(s.x.Config.Secrets.Bytes(bytes.ToValidUTF8(line, []byte("\uFFFD"))))
	})
}

// end ends an attempt whose program has ended.
func (s *spoken) end(of context.Context) error {
	err := s.write([]byte("\n")) // the last line may have none
	s.leaving.Do(func() {})
	var exit error
	if failed := s.x.exitError(); failed != nil {
		exit = failed
	}
	result, failed := s.speaker.End(of, s.why, exit)
	if err = cmp.Or(context.Cause(of), s.x.stderr.end(), err, failed); err != nil {
		s.x.say(max(1, exitCode(s.x.status)))
		return supervision.Permanent(err)
	}
	s.x.say(0)
	return s.x.task.Result(result, false)
}
