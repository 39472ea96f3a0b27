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

	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/actors/regular"
	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// marks is a small value that outlives the process. It is stored for all nodes of the journal, in the state folder, or
// in memory. mu guards memory.
type marks[T any] struct {
	store  *store.Store
	folder string // of the journal, or ""
	name   string // of its file
	mu     sync.Mutex
	memory []byte
}

func newMarks[T any](c *catalog, name string) *marks[T] {
	return &marks[T]{store: c.store, folder: c.folder(), name: name}
}

func (m *marks[T]) load(ctx context.Context) (all T, err error) {
	text, err := m.read(ctx)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// read reads the file: from the journal if that keeps files, else from the state folder, else from memory.
func (m *marks[T]) read(ctx context.Context) ([]byte, error) {
	if m.store.Load != nil {
		var text bytes.Buffer
		err := m.store.Load(ctx, m.name, &text)
		if messages.CodeOf(err) == messages.CodeNotFound {
			return nil, nil
		}
		return text.Bytes(), err
	}
	if m.folder != "" {
		text, err := regular.Read(filepath.Join(m.folder, m.name), regular.Large)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return text, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory, nil
}

// save writes the file to where read finds it.
func (m *marks[T]) save(ctx context.Context, all T) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if m.store.Save != nil {
		return m.store.Save(ctx, m.name, bytes.NewReader(text))
	}
	if m.folder != "" {
		return confined.WriteDurable(m.folder, m.name, 0o600, string(text))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memory = text
	return nil
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
	if all == nil {
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
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.texts(ctx)
	rows := map[string]json.RawMessage{}
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
	switch {
	case err != nil:
		return err
	case m.store.Rows != nil:
		return m.store.SetRows(ctx, "schedules", rows)
	}
	maps.Copy(all, rows)
	return m.file.save(ctx, all)
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

// Schedules returns the handler that lists the caller's schedules.
func (s *Server) Schedules() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines, err := []schedule.Line{}, auth.Require(r.Context(), auth.ReadRuns)
		if err == nil && s.clock != nil {
			lines, err = s.clock.List(r.Context(), auth.From(r.Context()).Name)
		}
		answer(w, lines, err)
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
