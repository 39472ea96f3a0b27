package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// DefaultServer is where lastword serve listens by default.
const DefaultServer = "http://127.0.0.1:7878"

// Remote is the server that the flags name.
type Remote struct {
	Program   *Program
	URL       string // "" is the one on this machine
	TokenFile string
	State     string // the folder of a server
}

// AddFlags adds --server and --token-file.
func (r *Remote) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet, server string) {
	flags.StringVar(&r.URL, "server", "", server)
	flags.StringVar(&r.TokenFile, "token-file", "", "`file` with the token that the server asks for")
	settings.Must(cobra.MarkFlagFilename(flags, "token-file"))
}

// Client returns a client of the server.
func (r *Remote) Client() (*api.Client, error) {
	token := ""
	if r.TokenFile != "" {
		data, err := os.ReadFile(r.TokenFile)
		if err != nil {
			return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot read the token: %w", err)}
		}
		token = strings.TrimSpace(string(data))
		r.Program.Secrets.Add("token", token)
	}
	return api.New(cmp.Or(r.URL, DefaultServer), token)
}

// Submit starts the run at the server. The request has a key: a lost answer may be asked for again.
func (r *Remote) Submit(ctx context.Context, q messages.Request) (OwnRemote, error) {
	c, err := r.Client()
	if err != nil {
		return OwnRemote{}, err
	}
	q.Key = rand.Text()
	id, err := c.Submit(ctx, q)
	return OwnRemote{RemoteRun{Client: c, Run: id}}, r.Hinted(err)
}

// AddOwnFlags adds AddFlags's for a command that runs its job at the server if --server names one. A variable does not
// move a run to another machine.
func (r *Remote) AddOwnFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	r.AddFlags(cmd, flags, "`URL` of a server to run at, or unix:PATH")
	settings.FlagOnly(flags, "server")
}

// AddStateFlag adds --state.
func (r *Remote) AddStateFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&r.State, "state", "", "`folder` of a server that may have stopped")
	settings.Must(cmd.MarkPersistentFlagDirname("state"))
	cmd.MarkFlagsMutuallyExclusive("server", "state")
}

// Ask gives a command the server's client.
func (r *Remote) Ask(run func(*cobra.Command, []string, *api.Client) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.live()
		switch {
		case err != nil:
			return err
		case c == nil:
			return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf(
				"no server has %s open; start it with lastword serve --state %[1]s", r.State)}
		}
		return r.Hinted(run(cmd, args, c))
	}
}

// Hinted says how to get a server where none answers.
func (r *Remote) Hinted(err error) error {
	if messages.CodeOf(err) == messages.CauseTransportClosed {
		return fmt.Errorf("%w\nlastword serve starts a server on this machine; --server or LASTWORD_SERVER names another", err)
	}
	return err
}

// live returns the client of the server that --server names, or of the one that has opened the folder of --state. It
// is nil if nobody has.
func (r *Remote) live() (*api.Client, error) {
	if r.State == "" {
		return r.Client()
	}
	owner, open := store.FindOwner(r.State)
	switch {
	case !open:
		return nil, nil
	case owner.URL == "":
		return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("the process that has %s open serves nobody", r.State)}
	}
	r.URL = owner.URL
	return r.Client()
}

// Source is where a command reads runs: a server, or the folder of one that has stopped.
type Source interface {
	List(ctx context.Context, q messages.Query, cursor string) (list []messages.Summary, next string, err error)
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Follow(ctx context.Context, id messages.RunID, want messages.Follow) iter.Seq2[messages.Event, error]
	Forget(ctx context.Context, id messages.RunID) error
}

// Read gives a command the server's client or, if the server has stopped, its folder.
func (r *Remote) Read(run func(*cobra.Command, []string, Source) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.live()
		switch {
		case err != nil:
			return err
		case c != nil:
			return r.Hinted(run(cmd, args, c))
		}
		in, err := store.OpenStopped(r.State)
		if err != nil {
			return &exit.Error{Code: exit.Configuration, Err: err}
		}
		return errors.Join(run(cmd, args, in), in.Close())
	}
}

// RemoteRun is a run of a server, as a display follows it.
type RemoteRun struct {
	Client *api.Client
	Run    messages.RunID
}

// ID is the run's.
func (r RemoteRun) ID() messages.RunID { return r.Run }

// Events yields the run's events past the cursor, over as many connections as it takes.
func (r RemoteRun) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.Client.Follow(ctx, r.Run, messages.Follow{After: after})
}

// Tree yields the events of its sub-runs, too.
func (r RemoteRun) Tree(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return r.Client.Follow(ctx, r.Run, messages.Follow{After: after, Tree: true})
}

// Answer answers a question of the run or of a sub-run.
func (r RemoteRun) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage) error {
	return r.Client.Answer(ctx, id, request, value)
}

// Cancel cancels nothing: who watches a run of a server does not own it.
func (r RemoteRun) Cancel(context.Context, string) error { return nil }

// OwnRemote is a run of a server that this program started.
type OwnRemote struct{ RemoteRun }

// Cancel cancels the run at the server.
func (r OwnRemote) Cancel(ctx context.Context, reason string) error {
	return r.Client.Cancel(ctx, r.Run, reason)
}

// Place is what names the server on the command line, if the user has named one there.
func (r *Remote) Place() string {
	switch {
	case r.State != "":
		return " --state " + r.State
	case r.URL != "" && r.URL != r.Program.Env.Get("LASTWORD_SERVER"):
		return " --server " + r.URL
	}
	return ""
}
