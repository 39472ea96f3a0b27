package guardian

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"
)

const (
	socket = 3 // descriptor of the guardian's end of the socket
	again  = 5 * time.Millisecond
)

// init is the whole life of a guardian. Where the command run needs one at once, init starts it, so that both processes
// are initialized at the same time.
func init() {
	switch {
	case len(os.Args) == 3 && os.Args[0] == name:
		runtime.LockOSThread() // the death of the thread that has forked a program kills the program
		silence, _ = time.ParseDuration(os.Args[2])
		os.Exit(keep(os.Args[1]))
	case len(os.Args) > 2 && os.Args[1] == "run":
		c, _ := fork(nil) // New tries again
		early.Store(c)
	}
}

// keeper is the state of a guardian. One goroutine uses it.
type keeper struct {
	mark    string
	replies *json.Encoder
	runs    map[int]*run
	left    map[int]bool // processes that were kept, and live
	cgroups cgroups
	over    bool      // the owner has ended
	beaten  time.Time // when the owner beat; zero if it never did
}

// run is a program with all that it has started.
type run struct {
	id, leader, group int
	keep              bool
	ended             bool // the program has, so the rest must
	cgroup            string
}

// order is a request with its descriptors.
type order struct {
	request
	files []int
}

// keep serves the owner until it has ended, and then until nothing lives.
func keep(mark string) int {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, 36, 1, 0) // PR_SET_CHILD_SUBREAPER
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT) // the owner gets them, too
	syscall.CloseOnExec(socket)
	syscall.CloseOnExec(socket + 1)
	k := &keeper{mark: mark, runs: map[int]*run{}, left: map[int]bool{}, replies: json.NewEncoder(os.NewFile(socket, "owner"))}
	k.cgroups.open(mark)
	defer k.cgroups.close()
	orders := make(chan order)
	time.AfterFunc(0, func() { receive(orders) })
	beats := time.NewTicker(silence / 16)
	for {
		var soon <-chan time.Time
		if k.over || slices.ContainsFunc(k.all(), (*run).over) {
			soon = time.After(again)
		}
		select {
		case o, ok := <-orders:
			if !ok {
				orders, k.over = nil, true
				k.endAll()
			} else {
				k.do(o)
			}
		case <-beats.C:
			if !k.beaten.IsZero() && time.Since(k.beaten) > silence {
				k.endAll()
			}
		case <-children:
		case <-soon:
		}
		k.reap()
		if k.sweep() && k.over {
			return 0
		}
	}
}

func (k *keeper) all() []*run { return slices.Collect(maps.Values(k.runs)) }

func (r *run) over() bool { return r.ended }

func (k *keeper) endAll() {
	for _, r := range k.runs {
		r.ended = true
	}
}

// receive reads orders. Descriptors come at the latest with the end of their order.
func receive(orders chan<- order) {
	defer close(orders)
	conn := &rights{}
	for requests := json.NewDecoder(conn); ; {
		var o order
		if requests.Decode(&o.request) != nil {
			return
		}
		if o.Program != nil {
			if len(conn.files) < o.Program.Files {
				return
			}
			o.files, conn.files = conn.files[:o.Program.Files], conn.files[o.Program.Files:]
		}
		orders <- o
	}
}

// rights reads the socket and collects the descriptors that come with the text.
type rights struct{ files []int }

func (c *rights) Read(p []byte) (int, error) {
	control := make([]byte, 1024)
	for {
		n, m, _, _, err := syscall.Recvmsg(socket, p, control, syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return 0, errors.Join(err, os.ErrClosed)
		}
		list, err := syscall.ParseSocketControlMessage(control[:m])
		for i := range list {
			fds, _ := syscall.ParseUnixRights(&list[i]) // of a message that has them
			c.files = append(c.files, fds...)
		}
		return n, err
	}
}

// do carries out an order.
func (k *keeper) do(o order) {
	r := k.runs[o.ID]
	switch {
	case o.Program != nil:
		k.start(o)
	case o.ID == 0:
		k.beaten = time.Now()
	case r == nil:
	case o.Signal == syscall.SIGKILL && !r.ended && r.leader > 0:
		r.ended = true
	case o.Signal != 0:
		for _, pid := range r.doomed(k.members(r)[r]) {
			_ = syscall.Kill(pid, o.Signal)
		}
	}
}

// start forks the program.
func (k *keeper) start(o order) {
	p := o.Program
	r := &run{id: o.ID, keep: p.Keep}
	attributes := &syscall.SysProcAttr{Setpgid: !p.Terminal, Setsid: p.Terminal, Setctty: p.Terminal, Pdeathsig: syscall.SIGKILL}
	if p.Foreground && !p.Terminal {
		attributes.Pgid, r.group = p.Group, p.Group
	}
	if dir := k.cgroups.make(r.id); dir != nil && !p.Keep {
		defer dir.Close()
		r.cgroup, attributes.UseCgroupFD, attributes.CgroupFD = dir.Name(), true, int(dir.Fd())
	}
	files := make([]uintptr, len(o.files))
	for i, f := range o.files {
		files[i] = uintptr(f)
		defer syscall.Close(f)
	}
	env := append(p.Env, variable+"="+os.Getenv(variable)+markOf(k.mark, r.id, p.Keep))
	setLimit(k.mark, r.id, p.Keep)
	pid, err := syscall.ForkExec(p.Path, p.Args, &syscall.ProcAttr{Dir: p.Dir, Env: env, Files: files, Sys: attributes})
	if err != nil && attributes.UseCgroupFD && err != syscall.ENOENT && err != syscall.EACCES && err != syscall.ENOEXEC {
		attributes.UseCgroupFD = false // the kernel or a rule of the cgroup forbids it
		pid, err = syscall.ForkExec(p.Path, p.Args, &syscall.ProcAttr{Dir: p.Dir, Env: env, Files: files, Sys: attributes})
	}
	if err != nil {
		k.cgroups.remove(r.cgroup)
		errno, _ := errors.AsType[syscall.Errno](err)
		k.say(reply{ID: o.ID, Errno: max(errno, 1)})
		return
	}
	if r.leader = pid; r.group == 0 {
		r.group = pid
	}
	k.runs[o.ID] = r
	k.say(reply{ID: o.ID, Pid: pid})
}

func (k *keeper) say(r reply) { _ = k.replies.Encode(r) } // an owner that has ended hears nothing

// reap takes the statuses of all children that have ended.
func (k *keeper) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
		delete(k.left, pid)
		for _, r := range k.runs {
			if r.leader == pid {
				r.leader, r.ended = 0, true
				k.say(reply{ID: r.id, Status: &status})
			}
		}
	}
}

// sweep kills what programs that have ended left alive, and names the programs that left nothing. While no other program runs,
// that includes what is nobody's. It reports whether nothing lives at all, except for what is kept.
func (k *keeper) sweep() (nothing bool) {
	all := k.all()
	if !slices.ContainsFunc(all, (*run).over) && !k.over {
		return false
	}
	members := k.members(nil)
	for _, r := range all {
		if r.ended && r.keep && r.leader == 0 {
			k.leave(r, append(members[r], members[nil]...))
			members[nil] = nil
			continue
		}
		doomed := r.doomed(members[r])
		switch kill(doomed); {
		case !r.ended:
		case r.leader == 0 && len(doomed) == 0 && k.cgroups.remove(r.cgroup):
			k.gone(r, []int{})
		case r.cgroup != "":
			k.cgroups.kill(r.cgroup)
		}
	}
	if slices.ContainsFunc(all, func(r *run) bool { return !r.ended }) {
		return false
	}
	kill(members[nil])
	return len(k.runs) == 0 && len(members[nil]) == 0
}

// doomed returns which of the run's processes end with it. If its children are kept, that is the program's group.
func (r *run) doomed(pids []int) []int {
	if !r.keep {
		return pids
	}
	return slices.DeleteFunc(pids, func(pid int) bool {
		s := statOf(pid)
		return s == nil || s.group != r.group
	})
}

// leave forgets a run that keeps what it has started.
func (k *keeper) leave(r *run, pids []int) {
	for _, pid := range pids {
		k.left[pid] = true
	}
	k.gone(r, append([]int{}, pids...))
}

func (k *keeper) gone(r *run, left []int) {
	delete(k.runs, r.id)
	k.say(reply{ID: r.id, Left: &left})
}

func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}
