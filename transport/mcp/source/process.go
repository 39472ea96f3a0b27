package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
)

const (
	grace        = time.Second // time to exit after the input was closed
	mostUnread   = 64          // maximum number of messages that wait for the process to read them
	mostOfStderr = 8 << 10     // kept bytes of standard error
)

// Process is a server that runs. Wait waits for it alone. End then ends what it has left behind, and returns when nothing
// of that lives. Both are called once. Kill ends all.
type Process interface {
	Wait() syscall.WaitStatus
	End() (kept []int)
	Kill()
}

// group is a server that leads a process group.
type group struct {
	cmd    *exec.Cmd
	leader int
}

func (g group) Wait() syscall.WaitStatus {
	_ = g.cmd.Wait() // the status tells
	return g.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// process is a server that communicates over standard input and output.
//
// One goroutine writes the input, one reads standard error, and one waits for the end. Everything else is safe for
// concurrent use.
type process struct {
	running Process
	status  syscall.WaitStatus // how it ended
	out     *bounded
	in      chan []byte   // messages that wait to be written
	quit    chan struct{} // closed when no more messages are written
	close   sync.Once
	said    tail          // the end of its standard error
	long    atomic.Bool   // it has written a message that is too long
	drain   sync.Once     // closes drained
	drained chan struct{} // closed when the output was read to its end
	ended   chan struct{} // closed when the process has ended
}

// start starts the server's command. The process ends at the latest with the context life.
func start(life context.Context, s Server) (*process, error) {
	if !filepath.IsAbs(s.Command) {
		return nil, fmt.Errorf("%s is in no folder of PATH, outside the current project; give its absolute path", s.Command)
	}
	if !filepath.IsAbs(s.Folder) {
		return nil, fmt.Errorf("%s starts in %q, which is no absolute path", s.Command, s.Folder)
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Dir, cmd.Env = s.Folder, environment(s.Env, s.Bare)
	var ends [6]*os.File // of stdin, stdout and stderr; the first of each pair is read
	for i := 0; i < len(ends); i += 2 {
		var err error
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			closeAll(ends[:]...)
			return nil, err
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends[0], ends[3], ends[5]
	running, err := s.begin(cmd)
	closeAll(ends[0], ends[3], ends[5])
	if err != nil {
		closeAll(ends[1], ends[2], ends[4])
		return nil, err
	}
	p := &process{running: running, out: &bounded{ReadCloser: ends[2]}, in: make(chan []byte, mostUnread), quit: make(chan struct{}),
		drained: make(chan struct{}), ended: make(chan struct{})}
	said := make(chan struct{})
	go p.feed(ends[1])
	go func() { _, _ = io.Copy(&p.said, ends[4]); close(said) }()
	go func() {
		defer context.AfterFunc(life, running.Kill)()
		p.status = running.Wait()
		running.End()
		late := time.NewTimer(grace) // what left the group may hold the pipes
		defer late.Stop()
		for _, read := range []chan struct{}{said, p.drained} {
			select {
			case <-read:
			case <-late.C:
				closeAll(ends[2], ends[4])
			}
		}
		closeAll(ends[1], ends[2], ends[4])
		close(p.ended)
	}()
	return p, nil
}

// begin starts the command as the settings say, or else in a process group.
func (s *Server) begin(cmd *exec.Cmd) (Process, error) {
	if s.Start != nil {
		if p, err := s.Start(cmd); p != nil || err != nil {
			return p, err
		}
	}
	inGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return group{cmd, cmd.Process.Pid}, nil // Wait clears it
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// environment returns the variables for a server: the inherited ones, and its settings' own. bare leaves out those
// inherited ones that say more of the user.
func environment(own map[string]string, bare bool) (all []string) {
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok && !(bare && slices.Contains([]string{"USER", "TERM", "TMPDIR"}, name)) {
			all = append(all, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, name+"="+own[name])
	}
	return all
}

// feed writes messages to the process until quit is closed.
func (p *process) feed(in io.WriteCloser) {
	defer in.Close()
	for {
		select {
		case message := <-p.in:
			if _, err := in.Write(message); err != nil {
				return
			}
		case <-p.quit:
			return
		case <-p.ended:
			return
		}
	}
}

// Read returns no error but io.EOF, because mcp-go would log others.
func (p *process) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if err != nil {
		if errors.Is(err, errLong) {
			p.long.Store(true)
		}
		p.drain.Do(func() { close(p.drained) })
		err = io.EOF
	}
	return n, err
}

// Write never blocks, so that a process that does not read cannot delay a call beyond its timeout.
func (p *process) Write(message []byte) (int, error) {
	select {
	case <-p.ended:
		return 0, io.ErrClosedPipe
	default:
	}
	select {
	case p.in <- slices.Clone(message):
		return len(message), nil
	default:
		return 0, fmt.Errorf("the server has not read its last %d messages", mostUnread)
	}
}

// Close closes the input of the process. If it does not exit then, Close kills it.
func (p *process) Close() error {
	p.close.Do(func() {
		close(p.quit)
		go func() {
			select {
			case <-p.ended:
			case <-time.After(grace):
			}
			p.end()
		}()
	})
	return nil
}

// end kills the process with what it has started. Before it returns, the output has been read or is lost.
func (p *process) end() {
	select {
	case <-p.ended:
	default:
		p.running.Kill()
	}
	p.out.Close()
	<-p.ended
}

// why says how the process ended. A process that has closed its output but still runs is killed.
func (p *process) why() string {
	select {
	case <-p.ended:
	case <-time.After(grace):
		p.end()
	}
	how := fmt.Sprintf("exit status %d", p.status.ExitStatus())
	if p.status.Signaled() {
		how = fmt.Sprintf("signal: %s", p.status.Signal())
	}
	if last := p.said.String(); last != "" {
		how += ": " + last
	}
	return how
}

// tail is a writer that keeps the last bytes written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps only the end of the text.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = slices.Clone(t.text[max(0, len(t.text)-mostOfStderr):])
	return len(p), nil
}

// String returns the last line that is not empty. Node.js ends what it says of a crash with its version: then it is the last
// line that names an error.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	last := lines[len(lines)-1]
	if strings.HasPrefix(last, "Node.js v") {
		for _, line := range lines {
			if strings.Contains(line, "Error") {
				last = line
			}
		}
	}
	last = strings.ToValidUTF8(last, "�")
	return words.Clip(words.OneLine(last), 300)
}

const (
	mostMessage = 8 << 20 // maximum size of a message in bytes
	mostLines   = 1000    // maximum number of lines of an event; mcp-go copies the event for each line
)

// errLong ends a connection: a message that is too long cannot be skipped.
var errLong = errors.New("a message has more than 8 MiB or 1000 lines")

// ending says where a message ends in a stream.
type ending int

const (
	withLine ending = iota
	withEvent
	withAll
)

// bounded is a reader that fails if a message is too long. A message ends with its line, with an empty line (in an
// event stream), or at the end of the input. In an event stream, a carriage return ends a line, too; it becomes a line
// feed, because mcp-go knows no other end.
type bounded struct {
	io.ReadCloser
	ends  ending
	long  func() // called if a message is too long; may be nil
	size  int    // bytes of the current message
	lines int    // lines of the current message
	empty bool   // whether the current line is empty so far
	cr    bool   // the last byte was a carriage return
}

// Read counts the size of the current message, which may span several calls.
func (b *bounded) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		var read int
		read, err = b.ReadCloser.Read(p)
		for _, c := range p[:read] {
			if b.ends == withEvent {
				after := b.cr
				if b.cr = c == '\r'; b.cr {
					c = '\n'
				} else if after && c == '\n' {
					continue // the second half of a line end
				}
			}
			p[n] = c
			n++
			if !b.fits(c) {
				return 0, errLong
			}
		}
	}
	return n, err
}

// fits counts a byte, and reports whether the message is not too long.
func (b *bounded) fits(c byte) bool {
	b.size++
	switch c {
	case '\n':
		if b.lines++; b.ends == withLine || b.ends == withEvent && b.empty {
			b.size, b.lines = 0, 0
		}
		b.empty = true
	case '\r':
	default:
		b.empty = false
	}
	if b.size <= mostMessage && (b.ends != withEvent || b.lines <= mostLines) {
		return true
	}
	if b.long != nil {
		b.long()
	}
	return false
}
