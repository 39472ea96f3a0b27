package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
)

// Flags say where a command stores its journal. The zero Flags store it in memory.
type Flags struct {
	dir         string
	nats        string
	natsCreds   string
	natsStreams int
	ephemeral   bool
	// always says that the journal is in the state folder unless the flags say otherwise.
	always bool
}

// InFolder returns the flags that --state of the folder sets.
func InFolder(dir string) Flags { return Flags{dir: dir} }

// AddState adds --state.
func (f *Flags) AddState(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "state", "", "`folder` that keeps the runs' events; without it they end with the process")
	settings.ByOperator(flags, "state")
}

// AddEphemeral adds --ephemeral, for a command that calls [Flags.KeepApart].
func (f *Flags) AddEphemeral(flags *pflag.FlagSet) {
	flags.BoolVar(&f.ephemeral, "ephemeral", false, "with --wrap, keep the runs' events in memory: kill -9 loses them")
}

// mostApart is the number of processes that may keep journals of the same name apart.
const mostApart = 32

// KeepApart keeps the journal in its own folder below the state folder, unless the flags say where: the first with
// that name which no other process has open. So each process goes on with what one before it has left.
func (f *Flags) KeepApart(env environment.Variables, name string) {
	if f.ephemeral || f.dir != "" || f.nats != "" {
		return
	}
	f.always = true
	if env.StateFolder() == "" {
		return // Open refuses that
	}
	for n := 1; n <= mostApart; n++ {
		f.dir = filepath.Join(env.StateFolder(), "wrap", name+"-"+strconv.Itoa(n))
		if _, held := FindOwner(f.dir); !held {
			return
		}
	}
}

// AddAll adds --state, --ephemeral and --nats. Without any of them, the journal is in the state folder.
func (f *Flags) AddAll(flags *pflag.FlagSet) {
	f.always = true
	flags.StringVar(&f.dir, "state", "", "`folder` that keeps the runs' events (default ~/.local/state/lastword)")
	flags.BoolVar(&f.ephemeral, "ephemeral", false, "keep the runs' events in memory: they end with the process")
	flags.StringVar(&f.nats, "nats", "", "`URL` of NATS JetStream, which keeps the runs' events and files for several servers")
	flags.StringVar(&f.natsCreds, "nats-creds", "", "`file` with the credentials for --nats")
	flags.IntVar(&f.natsStreams, "nats-streams", 0, "`number` of streams that the first server of --nats spreads the runs over; it never changes (default 1)")
}

// Check checks the flags.
func (f *Flags) Check() error {
	switch {
	case f.ephemeral && (f.dir != "" || f.nats != ""), f.dir != "" && f.nats != "":
		return errors.New("give one of --state, --nats and --ephemeral")
	case f.natsCreds != "" && f.nats == "":
		return errors.New("--nats-creds goes with --nats")
	case f.natsStreams != 0 && f.nats == "":
		return errors.New("--nats-streams goes with --nats")
	}
	return nil
}

// Durable reports whether runs outlive the process.
func (f *Flags) Durable() bool { return !f.ephemeral && (f.always || f.dir != "") }

// Shared reports whether several nodes share the journal.
func (f *Flags) Shared() bool { return f.nats != "" }

// Folder returns the folder of the journal, or "" if it has none. Without a home it is not the current folder.
func (f *Flags) Folder(env environment.Variables) string {
	if f.nats != "" || !f.Durable() {
		return ""
	}
	if dir := cmp.Or(f.dir, env.StateFolder()); dir != "" {
		return settings.Absolute(dir)
	}
	return ""
}

// Owner returns the process that has the folder of the journal open, or the zero Owner.
func (f *Flags) Owner(env environment.Variables) (o Owner) {
	if folder := f.Folder(env); folder != "" {
		o, _ = FindOwner(folder)
	}
	return o
}

// Store is an open journal.
type Store struct {
	// Journal is nil if the journal is in memory.
	Journal journal.Journal
	// Warnings say how the store may lose what it has acknowledged.
	Warnings []string
	// Save stores a file for all nodes of the journal. Load writes it to w; errors: not_found. Both are nil if a single
	// node has all runs.
	Save func(ctx context.Context, name string, file io.ReadSeeker) error
	Load func(ctx context.Context, name string, w io.Writer) error
	// Get returns a small value that all nodes share, with its revision, or nil and 0. Set stores it if its revision is
	// still the same; errors: conflict. Both are nil if a single node has all runs.
	Get func(ctx context.Context, name string) (value []byte, revision uint64, err error)
	Set func(ctx context.Context, name string, value []byte, revision uint64) error

	// Rows returns the small values of a part by name, and SetRows stores some in one transaction. Both are nil if the
	// store has no rows.
	Rows    func(ctx context.Context, part string) (map[string]json.RawMessage, error)
	SetRows func(ctx context.Context, part string, rows map[string]json.RawMessage) error

	// GetSession and SetSession are Get and Set for the part of a session that changes. A value is dropped about a day after it was
	// set. Both are nil if the journal is in memory.
	GetSession func(ctx context.Context, name string) (value []byte, revision uint64, err error)
	SetSession func(ctx context.Context, name string, value []byte, revision uint64) error

	// Conversations returns at most so many conversations that the nodes share in a folder. It is nil if a single node has all
	// runs.
	Conversations func(folder string, most int) *conversation.Store

	announce func(url string) error
	close    func() error
}

// outputs is the part of the rows that names the folders below which runs wrote files.
const outputs = "outputs"

// WritesBelow keeps the folder below which runs of the journal write files, for whoever reads the journal later.
func (s *Store) WritesBelow(ctx context.Context, folder string) error {
	if s.SetRows == nil || folder == "" {
		return nil
	}
	folder = settings.Absolute(folder)
	if known, err := s.Rows(ctx, outputs); known[folder] != nil || err != nil {
		return err
	}
	return s.SetRows(ctx, outputs, map[string]json.RawMessage{folder: json.RawMessage("{}")})
}

// Announce tells other processes the URL of the server.
func (s *Store) Announce(url string) error {
	if s.announce == nil {
		return nil
	}
	return s.announce(url)
}

// Close closes the journal. Close the System that uses it first.
func (s *Store) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// ErrNoFolder means that the process has no home directory.
var ErrNoFolder = errors.New("there is no home folder to keep anything in; give --state FOLDER, or set XDG_STATE_HOME")

// Open opens the journal. retention is how long ended runs are kept.
func (f *Flags) Open(ctx context.Context, env environment.Variables, secrets *redact.Secrets, log *zap.Logger,
	retention time.Duration) (*Store, error) {
	switch dir := f.Folder(env); {
	case f.nats != "":
		return openNATS(ctx, env, f, secrets, log, retention)
	case !f.Durable():
		return &Store{}, nil
	case dir == "":
		return nil, ErrNoFolder
	default:
		return openSQLite(env, dir)
	}
}

// Stopped reads the folder of a server that has stopped. It shows the runs of all callers.
type Stopped struct {
	env     environment.Variables
	dir     string
	journal journal.Reader
	archive *journal.Archive
	close   func() error
}

// OpenStopped opens the folder for reading.
func OpenStopped(env environment.Variables, dir string) (*Stopped, error) {
	store, close, err := read(dir)
	if err != nil {
		return nil, err
	}
	return &Stopped{env, dir, store, journal.NewArchive(store), close}, nil
}

// Close closes the folder.
func (s *Stopped) Close() error { return s.close() }

// Outputs returns the folders that [Store.WritesBelow] keeps.
func (s *Stopped) Outputs(ctx context.Context) ([]string, error) {
	if kept, ok := s.journal.(interface {
		Rows(ctx context.Context, part string) (map[string]json.RawMessage, error)
	}); ok {
		rows, err := kept.Rows(ctx, outputs)
		return slices.Collect(maps.Keys(rows)), err
	}
	return nil, nil
}

// List returns the runs that the query selects. There is only one page.
func (s *Stopped) List(ctx context.Context, q messages.Query, _ string) ([]messages.Summary, string, error) {
	q.Everyone = true
	list, err := s.archive.List(ctx, q)
	return list, "", err
}

// State returns the State of a run.
func (s *Stopped) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	return s.archive.State(ctx, id)
}

// Follow yields the events in the log. A run that has not ended will continue when a server opens the folder.
func (s *Stopped) Follow(ctx context.Context, id messages.RunID, want messages.FollowOptions) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		if want.Tree {
			yield(messages.Event{}, messages.InvalidInput("--tree needs a server; leave it out, and read the sub-runs by their ids"))
			return
		}
		for after := want.After; ; {
			page, err := s.journal.Read(ctx, id, after)
			if err != nil {
				yield(messages.Event{}, err)
				return
			}
			for _, e := range page.Events {
				after = e.Seq
				if selected, any := want.Filter.Select(e); any && !yield(selected, nil) {
					return
				}
			}
			if len(page.Events) == 0 || after >= page.Head.Seq {
				return
			}
		}
	}
}

// DeleteLog removes the log of an ended run. It opens the folder for writing.
func (s *Stopped) DeleteLog(ctx context.Context, id messages.RunID) error {
	return forget(ctx, s.env, s.dir, id)
}

// Vacuum rewrites the folder's database, so that it holds nothing of removed logs.
func (s *Stopped) Vacuum(ctx context.Context) error { return vacuum(ctx, s.env, s.dir) }
