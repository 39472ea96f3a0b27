package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/confined"
	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
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

// newClock returns the clock for the operator's schedules, or nil if there are none.
func (c *catalog) newClock(log *zap.Logger) *schedule.Clock {
	if c.file == nil || len(c.file.Schedules) == 0 {
		return nil
	}
	m := newMarks[schedule.Marks](c, "schedules.json")
	return &schedule.Clock{Config: schedule.Config{Schedules: c.file.Schedules, Load: m.load, Save: m.save, Log: log,
		Submit: func(ctx context.Context, q messages.Request) (messages.RunID, error) {
			return c.program.runtime().Submit(ctx, q)
		},
		State: func(ctx context.Context, id messages.RunID) (messages.State, error) {
			return c.program.runtime().State(ctx, id)
		}}}
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
