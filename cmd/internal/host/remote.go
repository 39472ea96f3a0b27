package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// DefaultServer is the URL at which lastword serve listens by default.
const DefaultServer = "http://127.0.0.1:7878"

// Remote holds the flags that name a server.
type Remote struct {
	Program   *Program
	URL       string // "" means the server on this machine: the one that has the state folder open, or DefaultServer
	TokenFile string
	State     string // state folder of a server
}

// AddFlags adds --server and --token-file. server is the help of --server.
func (r *Remote) AddFlags(flags *pflag.FlagSet, server string) {
	flags.StringVar(&r.URL, "server", "", server)
	flags.StringVar(&r.TokenFile, "token-file", "", "`file` with the token that the server asks for")
	settings.ByOperator(flags, "server", "token-file")
}

// Token returns the token for the server, "" without one.
func (r *Remote) Token() (string, error) {
	if r.TokenFile == "" {
		if env := r.Program.Env; r.URL != "" && env.Get("LASTWORD_RUN") != "" && r.URL == env.Get("LASTWORD_SERVER") {
			return env.Get("LASTWORD_TOKEN"), nil // of the run that this program is inside
		}
		return "", nil
	}
	data, err := regular.Read(r.TokenFile, regular.Small)
	if err != nil {
		return "", &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot read the token: %w", err)}
	}
	token := strings.TrimSpace(string(data))
	r.Program.Secrets.Add("token", token)
	return token, nil
}

// Client returns a client of the server.
func (r *Remote) Client() (*api.Client, error) {
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	url := cmp.Or(r.URL, r.Program.Announced(), DefaultServer)
	c, err := api.New(url, token)
	if err == nil {
		c.AtTerminal(r.Program.atTerminal(url))
	}
	return c, err
}

// Announced returns the URL of the server that has the folder of serve open, or "".
func (p *Program) Announced() string {
	if p.Serves == nil {
		return ""
	}
	return p.Serves.Owner(p.Env).URL
}

// Submit starts a run at the server. The request has a key, so it can be repeated if the response is lost.
func (r *Remote) Submit(ctx context.Context, q messages.Request) (OwnRemote, error) {
	c, err := r.Client()
	if err != nil {
		return OwnRemote{}, err
	}
	q.Key = rand.Text()
	id, err := c.Submit(ctx, q)
	return OwnRemote{RemoteRun: RemoteRun{Client: c, Run: id}}, r.Hinted(err)
}

// AddOwnFlags is AddFlags for commands that run their job at the server if --server is given. The environment variable
// has no effect here: it must not move a run to another machine.
func (r *Remote) AddOwnFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	r.AddFlags(flags, "`URL` of a server to run at, or unix:PATH")
	settings.FlagOnly(flags, "server")
}

// AddReadFlags adds the flags that name a server, or the folder of one: --state.
func (r *Remote) AddReadFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	r.AddFlags(flags, "`URL` of the server, or unix:PATH (default "+DefaultServer+")")
	r.AddStateFlag(cmd)
}

// AddStateFlag adds --state.
func (r *Remote) AddStateFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&r.State, "state", "", "`folder` of a server that may have stopped")
	settings.ByOperator(cmd.PersistentFlags(), "state")
	cmd.MarkFlagsMutuallyExclusive("server", "state")
}

// Ask returns a command that calls run with a client of the server.
func (r *Remote) Ask(run func(*cobra.Command, []string, *api.Client) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.live()
		switch {
		case err != nil:
			return err
		case c == nil:
			return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf(
				"nothing works in %s now; lastword explain last --state %[1]s says how a run ended, and lastword serve --state %[1]s starts a server there", r.State)}
		}
		return r.Hinted(run(cmd, args, c))
	}
}

// Hinted adds to the error how to get a server, if none answers.
func (r *Remote) Hinted(err error) error {
	switch messages.CodeOf(err) {
	case messages.CauseTransportClosed:
		return fmt.Errorf("%w\nlastword serve starts a server on this machine; --server or LASTWORD_SERVER names another", err)
	case auth.CodeUnauthorized:
		return fmt.Errorf("%w\n--token-file or LASTWORD_TOKEN_FILE names the file with the token", err)
	}
	return err
}

// live returns the client of the server that --server names, or of the server that has opened the folder in --state. It
// returns nil if no server has opened the folder.
func (r *Remote) live() (*api.Client, error) {
	if r.State == "" {
		return r.Client()
	}
	owner, open := store.FindOwner(r.State)
	for wait := 0; open && wait < 100 && !answers(owner.URL); wait++ { // its process ends
		time.Sleep(20 * time.Millisecond)
		owner, open = store.FindOwner(r.State)
	}
	switch {
	case !open:
		return nil, nil
	case owner.URL == "":
		return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("the process that has %s open serves nobody", r.State)}
	}
	r.URL = owner.URL
	c, err := r.Client()
	if err == nil && strings.HasSuffix(owner.URL, ownSocket) {
		c.UntilGone(r.isGone, r.left)
	}
	return c, err
}

// isGone reports whether no process has the folder in --state open.
func (r *Remote) isGone() bool {
	_, open := store.FindOwner(r.State)
	return r.State != "" && !open
}

// left yields the events that the process which had the folder open has left there.
func (r *Remote) left(ctx context.Context, id messages.RunID, want messages.FollowOptions) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		in, err := store.OpenStopped(r.Program.Env, r.State)
		if err != nil {
			yield(messages.Event{}, exit.Misconfigured(err))
			return
		}
		defer in.Close()
		in.Follow(ctx, id, want)(yield)
	}
}

// answers reports whether a server is at the URL, if that is a socket.
func answers(url string) bool {
	path, is := strings.CutPrefix(url, "unix:")
	if !is {
		return true
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// Source is what a command reads runs from: a server, or the folder of a server that has stopped.
type Source interface {
	List(ctx context.Context, q messages.Query, cursor string) (list []messages.Summary, next string, err error)
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Follow(ctx context.Context, id messages.RunID, want messages.FollowOptions) iter.Seq2[messages.Event, error]
	DeleteLog(ctx context.Context, id messages.RunID) error
}

// Read returns a command that calls run with a client of the server or, if the server has stopped, with its folder.
func (r *Remote) Read(run func(*cobra.Command, []string, Source) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.live()
		switch {
		case err != nil:
			return err
		case c != nil:
			err = r.Hinted(run(cmd, args, c))
			if messages.CodeOf(err) != messages.CauseTransportClosed || r.State == "" {
				return err
			}
			if again, failed := r.live(); again != nil || failed != nil { // waits until an ending process has ended
				return err
			}
		}
		in, err := store.OpenStopped(r.Program.Env, r.State)
		if err != nil {
			return exit.Misconfigured(err)
		}
		return errors.Join(run(cmd, args, in), in.Close())
	}
}

// Follow is c.Follow for a command that people wait for. A signal ends the program, which says what becomes of the run.
func (r *Remote) Follow(cmd *cobra.Command, c Source, id messages.RunID, want messages.FollowOptions) iter.Seq2[messages.Event, error] {
	client, live := c.(*api.Client)
	if !live { // nothing goes on
		return c.Follow(cmd.Context(), id, want)
	}
	return func(yield func(messages.Event, error) bool) {
		attached, first := Interruptible(cmd.Context(), func() {})
		calm := context.AfterFunc(attached, func() {
			if by := first(); by != nil {
				os.Exit(exit.Report(cmd.ErrOrStderr(), &exit.Error{Code: exit.OfSignal(by), Err: r.Left(client, id)}))
			}
		})
		client.Follow(cmd.Context(), id, want)(yield)
		if calm() {
			first()
		}
	}
}

// Left says how to watch or cancel the run again. It returns nil if the run has ended, or if the server does not answer.
func (r *Remote) Left(c *api.Client, id messages.RunID) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if state, err := c.State(ctx, id); err == nil && !state.Status.IsEnded() {
		return r.goesOn(state)
	}
	return nil
}

func (r *Remote) goesOn(s messages.State) error {
	if s.Canceling {
		return fmt.Errorf("the server still cancels the run: lastword runs watch %s%s shows its end", s.RunID, r.Place())
	}
	return fmt.Errorf("the run goes on: lastword runs watch %s%s shows it again, and lastword runs cancel %[1]s%[2]s ends it", s.RunID, r.Place())
}

// RemoteRun is a run of a server, in the form in which a display follows runs.
type RemoteRun struct {
	Client *api.Client
	Run    messages.RunID
}

// ID returns the run's id.
func (r RemoteRun) ID() messages.RunID { return r.Run }

// Events yields the run's events after the cursor. It reconnects as necessary.
func (r RemoteRun) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.Client.Follow(ctx, r.Run, messages.FollowOptions{After: after})
}

// Tree is like Events, but includes events of sub-runs.
func (r RemoteRun) Tree(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.Client.Follow(ctx, r.Run, messages.FollowOptions{After: after, Tree: true})
}

// Answer answers a question of the run or of a sub-run.
func (r RemoteRun) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage) error {
	return r.Client.Answer(ctx, id, request, value)
}

// Cancel does nothing, because watching a run of a server does not give control of it.
func (r RemoteRun) Cancel(context.Context, string) error { return nil }

// OwnRemote is a run of a server that this program has started.
type OwnRemote struct {
	RemoteRun
	Stays bool // it goes on when the terminal closes
}

// Cancel cancels the run at the server.
func (r OwnRemote) Cancel(ctx context.Context, reason string) error {
	return r.Client.Cancel(ctx, r.Run, reason)
}

// Place returns the flags that name the server and its token, if the user has given any.
func (r *Remote) Place() (flags string) {
	switch {
	case r.State != "":
		flags = " --state " + r.State
	case r.URL != "" && r.URL != r.Program.Env.Get("LASTWORD_SERVER"):
		flags = " --server " + r.URL
	}
	if r.TokenFile != "" && r.TokenFile != r.Program.Env.Get("LASTWORD_TOKEN_FILE") {
		flags += " --token-file " + r.TokenFile
	}
	return flags
}
