package command

import (
	"io"
	"os"
	"os/exec"
)

// wiring connects a program with its execution by pipes or by a terminal.
type wiring struct {
	*execution
	readers []*reader
	theirs  []io.Closer // what the program gets
}

// release closes what the program has got.
func (w *wiring) release() {
	for _, end := range w.theirs {
		end.Close()
	}
}

// hold notes the ends of a connection, to be closed.
func (w *wiring) hold(end, ours *os.File) {
	w.theirs, w.close = append(w.theirs, end), append(w.close, ours)
}

// output opens a pipe that a reader reads into the sink, and into raw unless that is nil. It returns the program's end.
func (w *wiring) output(sink sink, raw io.Writer) (*os.File, error) {
	ours, end, err := os.Pipe()
	if err == nil {
		w.hold(end, ours)
		w.readers = append(w.readers, &reader{ours, sink, raw, w.execution})
	}
	return end, err
}

// input opens a pipe to the program.
func (w *wiring) input() (end, ours *os.File, err error) {
	if end, ours, err = os.Pipe(); err == nil {
		w.hold(end, ours)
	}
	return end, ours, err
}

// streams connects stdin, stdout and stderr.
func (w *wiring) streams(cmd *exec.Cmd) (err error) {
	if w.TTY {
		return w.terminal(cmd)
	}
	if w.Config.Stdin != nil {
		cmd.Stdin = w.Config.Stdin
	} else if !w.Config.NoStdin {
		if cmd.Stdin, w.stdin, err = w.input(); err != nil {
			return err
		}
	}
	out := sink(w.stdout)
	if w.Config.Speak != nil {
		w.speak()
		out = w.spoken
	}
	if cmd.Stdout, err = w.output(out, w.Config.Stdout); err != nil {
		return err
	}
	if w.Output == OneOutput {
		cmd.Stderr = cmd.Stdout
		return nil
	}
	cmd.Stderr, err = w.output(w.stderr, w.Config.Stderr)
	return err
}

// terminal gives the program a terminal for all three.
func (w *wiring) terminal(cmd *exec.Cmd) error {
	ours, end, err := openTerminal()
	if err != nil {
		return err
	}
	w.hold(end, ours)
	w.readers = append(w.readers, &reader{ours, w.stdout, w.Config.Stdout, w.execution})
	cmd.Stdin, cmd.Stdout, cmd.Stderr, w.stdin = end, end, end, ours
	return nil
}

// conversation opens the descriptors 3 and 4, on which the program says things and hears the answers.
func (w *wiring) conversation(cmd *exec.Cmd) error {
	w.channel = newChannel(w.execution)
	says, err := w.output(w.channel, nil)
	if err != nil {
		return err
	}
	hears, replies, err := w.input()
	if err != nil {
		return err
	}
	cmd.ExtraFiles, w.replies = []*os.File{says, hears}, replies
	return nil
}
