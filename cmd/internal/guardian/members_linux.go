package guardian

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kept ends the marks of programs whose children are kept.
const kept = ".keep/"

// markOf returns the mark of a program in the variable.
func markOf(guardian string, id int, keep bool) string {
	if keep {
		return "/" + guardian + "." + strconv.Itoa(id) + kept
	}
	return "/" + guardian + "." + strconv.Itoa(id) + "/"
}

// members returns what lives below the guardian of programs that have ended, and of the run also. What is nobody's is
// nil's: processes without a mark whose parents have ended.
func (k *keeper) members(also *run) map[*run][]int {
	members := map[*run][]int{}
	for _, root := range childrenOf(os.Getpid()) {
		r, known := k.ownerOf(root)
		if !known || r != nil && !r.ended && r != also {
			continue
		}
		members[r] = append(members[r], below(root)...)
	}
	return members
}

// ownerOf returns the run of a child of the guardian. known is false if it is kept.
func (k *keeper) ownerOf(pid int) (r *run, known bool) {
	for _, r := range k.runs {
		if r.leader == pid {
			return r, true
		}
	}
	if k.left[pid] {
		return nil, false
	}
	mark := markedBy(pid)
	for _, r := range k.runs {
		if strings.Contains(mark, markOf(k.mark, r.id, r.keep)) {
			return r, true
		}
	}
	_, ours, _ := strings.Cut(mark, "/"+k.mark+".")
	return nil, !strings.Contains(ours, kept)
}

// below returns the process and all below it.
func below(pid int) []int {
	all := []int{pid}
	for _, child := range childrenOf(pid) {
		all = append(all, below(child)...)
	}
	return all
}

// childrenOf returns the children of a process.
func childrenOf(pid int) (pids []int) {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has ended it has none
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// stat is what the system says of a process.
type stat struct {
	state string
	group int
}

// statOf returns nil for a process that has ended.
func statOf(pid int) *stat {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 3 {
		return nil
	}
	s := &stat{state: fields[0]}
	s.group, _ = strconv.Atoi(fields[2]) // the system's own number
	return s
}

// markedBy returns the marks in the environment that the process was started with, and in its limit.
func markedBy(pid int) (marks string) {
	folder := "/proc/" + strconv.Itoa(pid)
	limits, _ := os.ReadFile(folder + "/limits")
	if _, limit, ok := strings.Cut(string(limits), "Max realtime timeout"); ok {
		if n, _ := strconv.ParseUint(strings.Fields(limit)[0], 10, 64); n>>62 == 1 { // unlimited is no number
			marks = markOf(strconv.FormatUint(n>>31%mostMarked, 10), int(n%mostMarked>>1), n%2 == 1)
		}
	}
	text, _ := os.ReadFile(folder + "/environ")
	for entry := range strings.SplitSeq(string(text), "\x00") {
		if own, ok := strings.CutPrefix(entry, variable+"="); ok {
			return marks + own
		}
	}
	return marks
}

// A program inherits its limits even where it clears its environment or writes over it, as servers do that show a title. So
// the limit of a real-time thread's time, which nobody reaches, is a mark, too: a bit, the guardian, the program, and whether
// its children are kept.
const (
	realtime   = 15 // RLIMIT_RTTIME
	mostMarked = 1 << 31
)

// setLimit marks the program that this process starts next. Where that is forbidden, the other marks remain.
func setLimit(guardian string, id int, keep bool) {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(realtime, &limit)
	n, _ := strconv.ParseUint(guardian, 10, 31)
	if limit.Cur = 1<<62 | n<<31 | uint64(id)<<1%mostMarked; keep {
		limit.Cur++
	}
	_ = syscall.Setrlimit(realtime, &limit)
}

// endMarked kills the programs of a guardian that has ended, and returns when none lives. They are no children of this
// process, so only their marks and groups tell.
func endMarked(guardian string, leads func(group int) bool) {
	for some := true; some; {
		some = false
		var c cgroups
		c.find(guardian)
		runs, _ := os.ReadDir(c.dir)
		for _, r := range runs {
			some = r.IsDir() && !c.remove(filepath.Join(c.dir, r.Name())) || some
		}
		c.close()
		processes, _ := os.ReadDir("/proc")
		for _, p := range processes {
			pid, err := strconv.Atoi(p.Name())
			if err != nil {
				continue
			}
			_, mark, marked := strings.Cut(markedBy(pid), "/"+guardian+".")
			if s := statOf(pid); s != nil && s.state != "Z" && (marked && !strings.Contains(mark, kept) || leads(s.group)) {
				some = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if some {
			time.Sleep(again)
		}
	}
}

// cgroups are groups of the system, one for each run. dir is "" where the guardian may not make any.
type cgroups struct{ dir string }

// find finds the folder of the guardian's groups, below the group of this process.
func (c *cgroups) find(mark string) {
	own, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	_, path, ok := strings.Cut("\n"+string(own), "\n0::")
	if path, _, _ = strings.Cut(path, "\n"); !ok {
		return
	}
	for mount := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(mount); strings.Contains(mount, " - cgroup2 ") {
			parent := filepath.Join(fields[4], path)
			members, err := os.ReadFile(filepath.Join(parent, "cgroup.procs"))
			if err == nil && slices.Contains(strings.Fields(string(members)), strconv.Itoa(os.Getpid())) {
				c.dir = filepath.Join(parent, "lastword-"+mark)
				return
			}
		}
	}
}

func (c *cgroups) open(mark string) {
	if c.find(mark); c.dir != "" && os.Mkdir(c.dir, 0o755) != nil {
		c.dir = ""
	}
}

func (c *cgroups) close() {
	if c.dir != "" {
		_ = os.Remove(c.dir) // empty, or of a guardian that never made it
	}
}

// make makes the group of a run. It returns nil if that is not possible.
func (c *cgroups) make(id int) *os.File {
	if c.dir == "" {
		return nil
	}
	path := filepath.Join(c.dir, strconv.Itoa(id))
	if os.Mkdir(path, 0o755) != nil {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	return dir
}

// remove removes a group, and reports whether nothing lives in it. It kills what does. A group with groups of a guardian that
// was killed within is as busy as one with processes.
func (c *cgroups) remove(path string) bool {
	if path == "" || syscall.Rmdir(path) != syscall.EBUSY {
		return true
	}
	c.kill(path)
	groups, _ := os.ReadDir(path)
	for _, within := range groups {
		if within.IsDir() {
			c.remove(filepath.Join(path, within.Name()))
		}
	}
	return syscall.Rmdir(path) != syscall.EBUSY
}

func (c *cgroups) kill(path string) {
	if os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0) == nil {
		return
	}
	members, _ := os.ReadFile(filepath.Join(path, "cgroup.procs")) // a kernel before 5.14
	for field := range strings.FieldsSeq(string(members)) {
		if pid, err := strconv.Atoi(field); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
