package command

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// hasDescriptors: a program gets only three descriptors.
const hasDescriptors = false

// group is the job object of a program and everything that it starts. It ends with this process. It is safe for
// concurrent use.
type group struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	job windows.Handle
}

// startGroup starts the program.
func startGroup(cmd *exec.Cmd, _, _ bool) (Process, error) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd}
	if err := g.started(); err != nil {
		_ = cmd.Process.Kill() // a program without its job object would outlive us
		g.Wait()
		g.End()
		return nil, err
	}
	return g, nil
}

// started puts the process into a job object, so that its children end with it.
func (g *group) started() error {
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
	process, openErr := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err = errors.Join(err, openErr); err == nil {
		defer windows.CloseHandle(process)
		err = windows.AssignProcessToJobObject(job, process)
	}
	return err
}

func (g *group) Terminate() { g.Kill() }

func (g *group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) Wait() syscall.WaitStatus {
	_ = g.cmd.Wait() // the status tells
	return g.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// End closes the job object. Windows then kills what still runs in it: see JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE.
func (g *group) End() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
	return nil
}

func outOfMemory() int64 { return 0 }

func openTerminal() (ours, theirs *os.File, err error) {
	return nil, nil, errors.New("tty: this system has no pseudo-terminal; leave it out")
}

func drain(*os.File, []byte) (int, error) { return 0, io.EOF }
