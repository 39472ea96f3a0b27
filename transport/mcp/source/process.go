package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages/words"
)

const (
	grace        = time.Second // to end after its input has
	mostUnread   = 64          // messages that a process has not read
	mostOfStderr = 8 << 10
)

// process is a server that speaks over its standard input and output. It is the leader of a group, which ends with it.
type process struct {
	cmd   *exec.Cmd
	out   *bounded
	in    chan []byte
	quit  chan struct{} // closed: no message is written any more
	close sync.Once
	kill  context.CancelFunc
	said  tail
	ended chan struct{}
}

// start starts the command, which lives no longer than life.
func start(life context.Context, s Server) (*process, error) {
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
	leader := cmd.Process.Pid // Wait forgets it
	go p.feed(in)
	go func() {
		_ = cmd.Wait() // its state says how it ended
		killGroup(leader)
		kill()
		close(p.ended)
		write.Close()
	}()
	return p, nil
}

// environment is what a server may know of ours, and what its settings give it.
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

// Read fails with io.EOF alone: mcp-go logs any other error.
func (p *process) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if err != nil {
		if errors.Is(err, errLong) {
			_, _ = p.said.Write([]byte("\n" + err.Error()))
		}
		err = io.EOF
	}
	return n, err
}

// Write never blocks: a process that reads nothing must not hold up a call longer than its timeout.
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

// Close closes the input of the process, and kills its group if it does not end then.
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

// end kills the group. Wait waits until what was written is read, or cannot be read any more.
func (p *process) end() {
	p.kill()
	p.out.Close()
	<-p.ended
}

// why says how the process ended. One that has closed its output and lives on is killed.
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

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = slices.Clone(t.text[max(0, len(t.text)-mostOfStderr):])
	return len(p), nil
}

// String is the last line that is not empty.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	last := strings.ToValidUTF8(lines[len(lines)-1], "�")
	return words.Clip(words.OneLine(last), 300)
}
