package guardian

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/internal/atomicfile"
)

// Guardian is the process that starts the programs. If it is killed, the next Start starts another one. It is safe for
// concurrent use; mu guards the fields below it.
type Guardian struct {
	lock *os.File // the locked folder; nil without one

	sending sync.Mutex // one request is written at a time; never held with mu

	mu      sync.Mutex
	conn    *os.File         // nil if no guardian runs
	mark    string           // begins the marks of its programs
	running map[int]*Process // nil after Close
	last    int              // id of the last program
	beaten  time.Time        // when this process last beat
	reading sync.WaitGroup
}

// Process is a program that a guardian has started.
type Process struct {
	of      *Guardian
	id      int
	started chan reply
	ended   chan syscall.WaitStatus
	gone    chan []int
	pid     int
}

// errClosed means that there is no guardian any more.
var errClosed = errors.New("the guardian of commands has ended")

// New starts a guardian. If there is a folder, New first waits until nothing lives that an earlier process with this
// folder has started, and calls waits if there is such a thing. New returns nil where the system does not list children.
func New(ctx context.Context, folder string, waits func()) (*Guardian, error) {
	self := strconv.Itoa(os.Getpid())
	if _, err := os.Stat("/proc/self/task/" + self + "/children"); err != nil {
		return nil, nil
	}
	g := &Guardian{running: map[int]*Process{}}
	if folder != "" {
		lock, err := lockFolder(ctx, folder, waits)
		if err != nil {
			return nil, err
		}
		g.lock = lock
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.spawn(); err != nil {
		g.lock.Close()
		return nil, err
	}
	return g, nil
}

// lockFolder locks the folder. The lock is the guardian's too, and so lasts as long as it.
func lockFolder(ctx context.Context, folder string, waits func()) (*os.File, error) {
	dir, err := os.Open(folder + "/") // with the slash only a folder opens
	if err != nil {
		return nil, err
	}
	for {
		if atomicfile.TryLock(dir) != syscall.EWOULDBLOCK { // any other error: the file system has no such locks
			return dir, nil
		}
		if waits != nil {
			waits()
			waits = nil
		}
		select {
		case <-ctx.Done():
			dir.Close()
			return nil, context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// child is a guardian's process.
type child struct {
	cmd  *exec.Cmd
	conn *os.File
	mark string
}

// early is the guardian of this process that began before anybody asked for one; nil without one.
var early atomic.Pointer[child]

// fork starts the process. It holds the lock, too, if there is one.
func fork(lock *os.File) (*child, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "guardian"), os.NewFile(uintptr(pair[1]), "guardian")
	defer theirs.Close()
	c := &child{cmd: exec.Command("/proc/self/exe"), conn: ours, mark: strconv.Itoa(rand.IntN(mostMarked))}
	c.cmd.Args, c.cmd.ExtraFiles = []string{name, c.mark, silence.String()}, []*os.File{theirs}
	if lock != nil {
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, lock)
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return c, nil
}

// spawn starts the process, or takes the one that began early. The caller holds mu.
func (g *Guardian) spawn() (err error) {
	var c *child
	if g.lock == nil {
		c = early.Swap(nil)
	}
	if c == nil {
		c, err = fork(g.lock)
	}
	if err != nil {
		return err
	}
	g.conn, g.mark = c.conn, c.mark
	if !g.beaten.IsZero() { // the next one expects beats as the last one did
		_, _ = c.conn.WriteString("{}")
	}
	g.reading.Go(func() {
		g.read(c.conn)
		_ = c.cmd.Wait()
	})
	return nil
}

// read passes on what the guardian says, until it has ended.
func (g *Guardian) read(conn *os.File) {
	replies := json.NewDecoder(conn)
	for {
		var r reply
		if err := replies.Decode(&r); err != nil {
			g.lost(conn)
			return
		}
		g.mu.Lock()
		p := g.running[r.ID]
		if p != nil && r.Pid > 0 {
			p.pid = r.Pid
		}
		if r.Errno != 0 || r.Left != nil {
			delete(g.running, r.ID)
		}
		g.mu.Unlock()
		switch {
		case p == nil:
		case r.Status != nil:
			p.ended <- *r.Status
		case r.Left != nil:
			p.gone <- *r.Left
		default:
			p.started <- r
		}
	}
}

// lost ends what a guardian has left that was killed. Its programs end with it; what these have started may not.
func (g *Guardian) lost(conn *os.File) {
	g.mu.Lock()
	orphans, mark := g.running, g.mark
	if g.conn = nil; orphans != nil {
		g.running = map[int]*Process{}
	}
	g.mu.Unlock()
	g.sending.Lock() // nobody writes to another file that has the descriptor's number
	conn.Close()
	g.sending.Unlock()
	if len(orphans) > 0 {
		endMarked(mark, func(leader int) bool {
			for _, p := range orphans {
				if p.pid == leader {
					return true
				}
			}
			return false
		})
	}
	for _, p := range orphans { // each channel has room for this too
		p.started <- reply{Errno: syscall.ESRCH}
		p.ended <- syscall.WaitStatus(syscall.SIGKILL)
		p.gone <- nil
	}
}

// Start starts the program of cmd, whose streams must be files.
func (g *Guardian) Start(cmd *exec.Cmd, o Options) (*Process, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	fds := []int{}
	stream := func(f any) {
		if file, ok := f.(*os.File); ok && file != nil {
			fds = append(fds, int(file.Fd()))
		} else {
			fds = append(fds, int(null.Fd()))
		}
	}
	stream(cmd.Stdin)
	stream(cmd.Stdout)
	stream(cmd.Stderr)
	for _, f := range cmd.ExtraFiles {
		stream(f)
	}
	what := programOf(cmd, o)
	what.Group = syscall.Getpgrp()
	p := &Process{of: g, started: make(chan reply, 2), ended: make(chan syscall.WaitStatus, 2), gone: make(chan []int, 2)}
	if err := g.begin(p, what, fds); err != nil {
		return nil, err
	}
	r := <-p.started
	if r.Errno != 0 {
		return nil, &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: r.Errno}
	}
	return p, nil
}

// begin asks the guardian to start the program, and starts a guardian first if the last one was killed.
func (g *Guardian) begin(p *Process, what *program, fds []int) error {
	g.mu.Lock()
	if g.running == nil {
		g.mu.Unlock()
		return errClosed
	}
	if g.conn == nil {
		if err := g.spawn(); err != nil {
			g.mu.Unlock()
			return err
		}
	}
	g.last++
	p.id = g.last
	g.running[p.id] = p
	g.mu.Unlock()
	return g.send(request{ID: p.id, Program: what}, fds...)
}

// send writes a request. If it fails, the guardian has ended, which read notices.
func (g *Guardian) send(r request, fds ...int) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	rights := []byte(nil)
	if len(fds) > 0 {
		rights = syscall.UnixRights(fds...)
	}
	g.sending.Lock()
	defer g.sending.Unlock()
	g.mu.Lock()
	conn := g.conn
	g.mu.Unlock()
	if conn == nil {
		return errClosed
	}
	n, err := syscall.SendmsgN(int(conn.Fd()), text, rights, nil, syscall.MSG_NOSIGNAL)
	if err == nil && n < len(text) {
		_, err = conn.Write(text[n:])
	}
	return err
}

// Beat tells the guardian that this process works, and that its programs must end if it does not say so again soon.
func (g *Guardian) Beat() {
	g.mu.Lock()
	due := time.Since(g.beaten) > silence/16
	if due {
		g.beaten = time.Now()
	}
	g.mu.Unlock()
	if due {
		_ = g.send(request{}) // a guardian that has ended hears nothing
	}
}

// Close ends all programs and the guardian, and returns when nothing lives.
func (g *Guardian) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	if g.conn != nil {
		_ = syscall.Shutdown(int(g.conn.Fd()), syscall.SHUT_WR)
	}
	g.mu.Unlock()
	g.reading.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = nil
	g.lock.Close()
}

// Wait returns how the program ended. Call it once.
func (p *Process) Wait() syscall.WaitStatus { return <-p.ended }

// End returns when nothing lives that the program has started, except for what it was to keep. Call it once, after Wait.
func (p *Process) End() (kept []int) { return <-p.gone }

// Terminate asks the program, and all that it has started, to end.
func (p *Process) Terminate() { p.signal(syscall.SIGTERM) }

// Kill ends the program, and all that it has started.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

func (p *Process) signal(s syscall.Signal) {
	_ = p.of.send(request{ID: p.id, Signal: s}) // with the guardian the program has ended
}
