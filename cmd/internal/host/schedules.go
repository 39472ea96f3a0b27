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

// marks is a small value that outlives the process. It is stored for all nodes of the journal, in the state folder, or
// in memory. mu guards changes and what follows it.
type marks[T any] struct {
	store  *store.Store
	folder string // of the journal, or ""
	name   string // of its file
	mu     sync.Mutex
	memory []byte
	text   []byte // what load read last
	value  T      // of text
}

func newMarks[T any](c *catalog, name string) *marks[T] {
	return &marks[T]{store: c.store, folder: c.folder(), name: name}
}

// load returns the value, which is decoded once. Whoever changes it clones it first.
func (m *marks[T]) load(ctx context.Context) (all T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, _, err := m.read(ctx)
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

// read reads the file: from what the nodes share, else from the state folder, else from memory. mu must be held.
func (m *marks[T]) read(ctx context.Context) (text []byte, revision uint64, err error) {
	switch {
	case m.store.Get != nil:
		text, revision, err = m.store.Get(ctx, m.name)
		if err == nil && revision == 0 {
			return m.move(ctx)
		}
	case m.folder != "":
		text, err = regular.Read(filepath.Join(m.folder, m.name), regular.Large)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	default:
		text = m.memory
	}
	return text, revision, err
}

// move moves the file from where lastword 0.1.0 kept it: among the files of runs, which expire.
func (m *marks[T]) move(ctx context.Context) (text []byte, revision uint64, err error) {
	var old bytes.Buffer
	err = m.store.Load(ctx, m.name, &old)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return nil, 0, nil
	}
	var all T
	if err == nil {
		err = json.Unmarshal(old.Bytes(), &all)
	}
	if err == nil {
		text, err = json.Marshal(all) // without a private key, which 0.1.0 kept in it
	}
	if err == nil {
		if err = m.store.Set(ctx, m.name, text, 0); messages.CodeOf(err) == messages.CodeConflict {
			err = nil // another node was faster
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return m.store.Get(ctx, m.name)
}

// change changes the file where read finds it. It calls do again if another node has changed the file meanwhile.
func (m *marks[T]) change(ctx context.Context, do func(all *T) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		old, revision, err := m.read(ctx)
		var all T
		if err == nil && len(old) > 0 {
			err = json.Unmarshal(old, &all)
		}
		if err == nil {
			err = do(&all)
		}
		text, failed := json.Marshal(all)
		if err = cmp.Or(err, failed); err != nil || string(text) == string(old) {
			return err
		}
		switch {
		case m.store.Set != nil:
			if err = m.store.Set(ctx, m.name, text, revision); messages.CodeOf(err) == messages.CodeConflict && ctx.Err() == nil {
				continue
			}
		case m.folder != "":
			err = confined.WriteDurable(m.folder, m.name, 0o600, string(text))
		default:
			m.memory = text
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
