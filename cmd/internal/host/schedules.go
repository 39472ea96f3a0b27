package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// marks is a small value that outlives the process. mu guards changes and what follows it.
type marks[T any] struct {
	stateFile
	text  []byte // what load read last
	value T      // of text
}

func newMarks[T any](c *catalog, name string) *marks[T] {
	return &marks[T]{stateFile: stateFile{store: c.store, folder: c.folder(), name: name}}
}

// load returns the value, which is decoded once. Anyone who changes it clones it first.
func (m *marks[T]) load(ctx context.Context) (all T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, _, err := m.read(ctx, edited[T](nil))
	switch {
	case err != nil || len(text) == 0:
		return all, err
	case !bytes.Equal(text, m.text):
		if err = json.Unmarshal(text, &all); err != nil {
			return all, err
		}
		m.text, m.value = text, all
	}
	return m.value, nil
}

// change changes the value. It calls do again if another node has changed it meanwhile.
func (m *marks[T]) change(ctx context.Context, do func(all *T) error) error {
	return m.rewrite(ctx, edited[T](nil), edited(do))
}

// edited returns what turns one text of a T into the next.
func edited[T any](do func(all *T) error) func(old []byte) ([]byte, error) {
	return func(old []byte) ([]byte, error) {
		var all T
		var err error
		if len(old) > 0 {
			err = json.Unmarshal(old, &all)
		}
		if err == nil && do != nil {
			err = do(&all)
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(all)
	}
}

// stateFile is a small file for all nodes of the journal, in the state folder, or in memory. mu guards changes.
type stateFile struct {
	store  *store.Store
	folder string // of the journal, or ""
	name   string
	mu     sync.Mutex
	memory []byte
}

// read reads what the nodes share, else the state folder, else memory. mu must be held. again writes anew what lastword
// 0.1.0 wrote.
func (f *stateFile) read(ctx context.Context, again func(old []byte) ([]byte, error)) (text []byte, revision uint64, err error) {
	switch {
	case f.store.Get != nil:
		text, revision, err = f.store.Get(ctx, f.name)
		if err == nil && revision == 0 {
			return f.move(ctx, again)
		}
	case f.folder != "":
		text, err = regular.Read(filepath.Join(f.folder, f.name), regular.Large)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	default:
		text = f.memory
	}
	return text, revision, err
}

// move moves the file from where lastword 0.1.0 kept it: among the files of runs, which expire.
func (f *stateFile) move(ctx context.Context, again func(old []byte) ([]byte, error)) (text []byte, revision uint64, err error) {
	var old bytes.Buffer
	err = f.store.Load(ctx, f.name, &old)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return nil, 0, nil
	}
	if err == nil {
		text, err = again(old.Bytes()) // without a private key, which 0.1.0 kept in it
	}
	if err == nil {
		if err = f.store.Set(ctx, f.name, text, 0); messages.CodeOf(err) == messages.CodeConflict {
			err = nil // another node was faster
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return f.store.Get(ctx, f.name)
}

// rewrite changes the file where read finds it.
func (f *stateFile) rewrite(ctx context.Context, again, edit func(old []byte) ([]byte, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		old, revision, err := f.read(ctx, again)
		if err != nil {
			return err
		}
		text, err := edit(old)
		if err != nil || bytes.Equal(text, old) {
			return err
		}
		switch {
		case f.store.Set != nil:
			if err = f.store.Set(ctx, f.name, text, revision); messages.CodeOf(err) == messages.CodeConflict && ctx.Err() == nil {
				continue
			}
		case f.folder != "":
			err = confined.WriteDurable(f.folder, f.name, 0o600, string(text))
		default:
			f.memory = text
		}
		return err
	}
}

// save replaces the file.
func (m *marks[T]) save(ctx context.Context, all T) error {
	return m.change(ctx, func(old *T) error { *old = all; return nil })
}

// scheduleMarks keeps the marks of schedules, each in a row of the store. A store without rows keeps them in one file,
// as lastword 0.1.0 did with every store. mu guards changes.
type scheduleMarks struct {
	store *store.Store
	file  *marks[map[string]json.RawMessage]
	mu    sync.Mutex
}

// texts returns each mark as text. A row is newer than what a file has.
func (m *scheduleMarks) texts(ctx context.Context) (map[string]json.RawMessage, error) {
	all, err := m.file.load(ctx)
	if all = maps.Clone(all); all == nil {
		all = map[string]json.RawMessage{}
	}
	if err == nil && m.store.Rows != nil {
		var rows map[string]json.RawMessage
		rows, err = m.store.Rows(ctx, "schedules")
		maps.Copy(all, rows)
	}
	return all, err
}

func (m *scheduleMarks) load(ctx context.Context) (schedule.Marks, error) {
	texts, err := m.texts(ctx)
	all := schedule.Marks{}
	for name, text := range texts {
		one := all[name]
		err = errors.Join(err, json.Unmarshal(text, &one))
		one.Was = string(text)
		all[name] = one
	}
	return all, err
}

func (m *scheduleMarks) save(ctx context.Context, marks schedule.Marks) error {
	if m.store.Rows == nil {
		return m.file.change(ctx, func(all *map[string]json.RawMessage) error {
			rows, err := changed(marks, *all)
			if *all == nil {
				*all = map[string]json.RawMessage{}
			}
			maps.Copy(*all, rows)
			return err
		})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.texts(ctx)
	if err != nil {
		return err
	}
	rows, err := changed(marks, all)
	if err != nil {
		return err
	}
	return m.store.SetRows(ctx, "schedules", rows)
}

// changed returns the marks that differ from what they were, as text. Errors: conflict if somebody else has changed one
// of these.
func changed(marks schedule.Marks, all map[string]json.RawMessage) (rows map[string]json.RawMessage, err error) {
	rows = map[string]json.RawMessage{}
	for name, one := range marks {
		text, failed := json.Marshal(one)
		if failed == nil && string(text) == one.Was {
			continue
		}
		if string(all[name]) != one.Was {
			failed = messages.Errorf(messages.CodeConflict, "another server has changed the schedule %s", name)
		}
		rows[name], err = text, cmp.Or(err, failed)
	}
	return rows, err
}

// newClock returns the clock for the operator's schedules, or nil if there are none.
func (c *catalog) newClock(log *zap.Logger) *schedule.Clock {
	if c.file == nil || len(c.file.Schedules) == 0 {
		return nil
	}
	m := &scheduleMarks{store: c.store, file: newMarks[map[string]json.RawMessage](c, "schedules.json")}
	return &schedule.Clock{Config: schedule.Config{Schedules: c.file.Schedules, Load: m.load, Save: m.save, Log: log,
		Submit: func(ctx context.Context, q messages.Request) (messages.RunID, error) {
			return c.program.runtime().Submit(ctx, q)
		},
		State: func(ctx context.Context, id messages.RunID) (messages.State, error) {
			return c.program.runtime().State(ctx, id)
		}}}
}

// Schedules returns the handler for callers, who send a [schedule.Order] and get their schedules.
func (s *Server) Schedules() http.Handler {
	return orderHandler(func(ctx context.Context, order schedule.Order) ([]schedule.Line, error) {
		scope := auth.WriteRuns
		if order.Action == "ls" {
			scope = auth.ReadRuns
		}
		switch err := auth.Require(ctx, scope); {
		case err != nil:
			return nil, err
		case s.clock != nil:
			return s.clock.Operate(ctx, auth.From(ctx).Name, order)
		case order.Action == "ls":
			return nil, nil
		}
		return nil, messages.InvalidInput("the server has no schedules; its operator gives them in the file of --jobs")
	})
}

// RunBeside runs the functions in goroutines. stop cancels their contexts and waits for them.
func RunBeside(all ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range all {
		running.Go(func() { run(ctx) })
	}
	return func() { cancel(); running.Wait() }
}
