package commands

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/messages"
)

// free makes the folder, and refuses one that another process has open.
func free(folder string) error {
	if folder == "" {
		return nil
	}
	if owner, open := store.FindOwner(folder); open {
		return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("--state %s is in use by another process (%s): give another folder, or wait for its end",
			folder, owner.URL)}
	}
	return exit.Unusable(os.MkdirAll(folder, 0o700), folder, "--state")
}

// Retry starts the program of a run again that lastword run has kept in the folder. It goes on with the steps that the
// run has kept, if the labels say so.
func Retry(cmd *cobra.Command, p *host.Program, folder string, state messages.State, labels map[string]string) error {
	if state.Queued.Job == agent.Name {
		return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf(
			"%s is a run of a coding agent, whose prompt is not repeated; go on with its session: lastword agent NAME PROMPT --session last", state.RunID)}
	}
	var program command.Program
	if state.Queued.Job != "run" || json.Unmarshal(state.Queued.Input, &program) != nil || program.Dir == "" {
		return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf(
			"%s is a run of a server, and none has %s open; start it with lastword serve --state %[2]s", state.RunID, folder)}
	}
	o := options{program: p, state: store.InFolder(folder)}
	return o.start(cmd, program, labels)
}

// behind is the variable of a process that runs a job in the background: it prints the id of the run, and then nothing.
const behind = "LASTWORD_BACKGROUND"

// errLeft: nobody is there to read the events.
var errLeft = errors.New("--background prints the id of the run alone: leave out --jsonl and --json, and read the run with lastword runs")

// isBehind reports whether this is that process.
func isBehind(p *host.Program) bool { return p.Env.Get(behind) != "" }

// leaveBehind starts this command once more, in its own session and with its own state, and prints the id of
// the run. without is a flag that stdin stands for.
func leaveBehind(cmd *cobra.Command, p *host.Program, in *store.Flags, without, stdin string, args []string) error {
	folder := in.Folder(p.Env)
	if folder == "" {
		if folder = p.Env.StateFolder(); folder == "" {
			return exit.Misconfigured(store.ErrNoFolder)
		}
		folder = filepath.Join(folder, "background", strings.ToLower(rand.Text()))
	}
	if err := free(folder); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	words := []string{cmd.Name(), "--state=" + folder}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "state" && f.Name != without {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	child := exec.Command(self, append(words, args...)...)
	child.Env, child.SysProcAttr, child.Stdin = append(p.Env, behind+"=1"), ownSession(), strings.NewReader(stdin)
	said, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if child.Stderr = child.Stdout; child.SysProcAttr == nil {
		return errors.New("this system has no sessions, which --background needs: start lastword serve --jobs, and give --detach or --server")
	}
	if err := child.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(said)
	if first, _ := lines.ReadString('\n'); strings.HasPrefix(first, "r_") {
		fmt.Fprintf(cmd.ErrOrStderr(), "it goes on in the background: lastword runs watch last --state %s\n", folder)
		_, err := io.WriteString(cmd.OutOrStdout(), first)
		return err
	} else if _, err := io.WriteString(cmd.ErrOrStderr(), first); err != nil {
		return err
	}
	if _, err := io.Copy(cmd.ErrOrStderr(), lines); err != nil {
		return err
	}
	if err := child.Wait(); err != nil {
		return &exit.Error{Code: max(child.ProcessState.ExitCode(), exit.Failed)}
	}
	return nil
}

// announcing prints the id of the run, and nothing else.
type announcing struct {
	terminal.Silent
	to   io.Writer
	once bool
}

func (a *announcing) Show(s messages.State, _ messages.Event) {
	if !a.once {
		a.once = true
		fmt.Fprintln(a.to, s.RunID)
	}
}
