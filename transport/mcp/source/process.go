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
	"time"

	"github.com/seed889630bf/lastword/internal/words"
)

const (
	grace        = time.Second // time to exit after the input was closed
	mostUnread   = 64          // maximum number of messages that wait for the process to read them
	mostOfStderr = 8 << 10     // kept bytes of standard error
)

// process is a server that communicates over standard input and output. It leads a process group, which is killed when
// it ends.
//
// One goroutine writes the input, another waits for the end. Everything else is safe for concurrent use.
type process struct {
	cmd   *exec.Cmd
	out   *bounded
	in    chan []byte   // messages that wait to be written
	quit  chan struct{} // closed when no more messages are written
	close sync.Once
	kill  context.CancelFunc
	said  tail          // the end of its standard error
	long  atomic.Bool   // it has written a message that is too long
	ended chan struct{} // closed when the process has ended
}

// start starts the server's command. The process ends at the latest with the context life.
func start(life context.Context, s Server) (*process, error) {
	if !filepath.IsAbs(s.Command) {
		return nil, fmt.Errorf("%s is in no folder of PATH, outside the current project; give its absolute path", s.Command)
	}
	if !filepath.IsAbs(s.Folder) {
		return nil, fmt.Errorf("%s starts in %q, which is no absolute path", s.Command, s.Folder)
	}
	life, kill := context.WithCancel(life)
	cmd := exec.CommandContext(life, s.Command, s.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Folder, environment(s.Env), grace
	inGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	read, write := io.Pipe()
	p := &process{cmd: cmd, out: &bounded{ReadCloser: read}, in: make(chan []byte, mostUnread), quit: make(chan struct{}),
		kill: kill, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = write, &p.said
	if err := cmd.Start(); err != nil {
		kill()
		return nil, err
	}
	leader := cmd.Process.Pid // Wait clears it
	go p.feed(in)
	go func() {
		_ = cmd.Wait() // ProcessState says how it ended
		killGroup(leader)
		kill()
		close(p.ended)
		write.Close()
	}()
	return p, nil
}

// environment returns the variables for a server: the inherited ones, and those of its settings.
func environment(own map[string]string) (all []string) {
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
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

// Close closes the input of the process. If it does not exit then, Close kills its group.
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

// end kills the process group. Before it returns, the output has been read or is lost.
func (p *process) end() {
	p.kill()
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
	how := p.cmd.ProcessState.String()
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

// String returns the last line that is not empty.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	last := strings.ToValidUTF8(lines[len(lines)-1], "�")
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
