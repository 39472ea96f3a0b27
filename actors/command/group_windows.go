package command

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// hasDescriptors: a program gets only three descriptors.
const hasDescriptors = false

// group is the job object of a program and everything that it starts. It ends with this process. It is safe for
// concurrent use.
type group struct {
	mu  sync.Mutex
	job windows.Handle
}

func (g *group) prepare(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// started puts the process into a job object, so that its children end with it.
func (g *group) started(cmd *exec.Cmd) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	g.job = job
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	process, openErr := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err = errors.Join(err, openErr); err == nil {
		defer windows.CloseHandle(process)
		err = windows.AssignProcessToJobObject(job, process)
	}
	return err
}

func (g *group) terminate() { g.kill() }

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) end() { g.kill() }

// release closes the job object. Windows then kills what still runs in it: see JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE.
func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

func (g *group) ranOutOfMemory(os.Signal) bool { return false }

func signalOf(*os.ProcessState) os.Signal { return nil }

func openTerminal() (ours, theirs *os.File, err error) {
	return nil, nil, errors.New("tty: this system has no pseudo-terminal; leave it out")
}

func drain(*os.File, []byte) (int, error) { return 0, io.EOF }
