package guardian

import (
	"os/exec"
	"syscall"
	"time"
)

const (
	// name is argument 0 of the guardian; its arguments are its mark and silence.
	name = "lastword-guardian"
	// variable marks the programs; it has the marks of all guardians above a program.
	variable = "LASTWORD_GUARD"
)

// silence is how long a process that has beaten may be silent. It is shorter than the time after which another node
// takes its runs, by the time that ending the programs takes. Tests shorten it.
var silence = 8 * time.Second

// Options say how a program is started.
type Options struct {
	// Terminal gives the program its own session, whose terminal is its stdin.
	Terminal bool
	// Foreground puts the program into the process group of this process, which a terminal signals as a whole.
	Foreground bool
	// Keep leaves the processes that the program leaves behind. If the program is ended, only its group ends with it.
	Keep bool
}

// request is a message to the guardian. It starts the program, if it has one, or gives it a signal. An empty one is a
// beat.
type request struct {
	ID      int            `json:"id,omitempty"`
	Program *program       `json:"program,omitempty"`
	Signal  syscall.Signal `json:"signal,omitempty"`
}

// program is what [exec.Cmd] says of a program. As many descriptors as Files come with the message.
type program struct {
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Env   []string `json:"env"`
	Dir   string   `json:"dir"`
	Files int      `json:"files"`
	Group int      `json:"group"` // process group of the guardian's owner
	Options
}

// reply is what the guardian says: Pid or Errno once, then Status once, and Left at the end.
type reply struct {
	ID     int                 `json:"id"`
	Pid    int                 `json:"pid,omitempty"`
	Errno  syscall.Errno       `json:"errno,omitempty"`
	Status *syscall.WaitStatus `json:"status,omitempty"`
	Left   *[]int              `json:"left,omitempty"` // processes that were kept
}

func programOf(cmd *exec.Cmd, o Options) *program {
	return &program{Path: cmd.Path, Args: cmd.Args, Env: cmd.Environ(), Dir: cmd.Dir, Files: 3 + len(cmd.ExtraFiles), Options: o}
}
