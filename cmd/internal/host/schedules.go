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
	"github.com/seed889630bf/lastword/actors/regular"
	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// marks is a small value that outlives the process. It is stored for all nodes of the journal, in the state folder, or
// in memory. mu guards memory.
type marks[T any] struct {
	options *Options
	name    string // of its file
	mu      sync.Mutex
	memory  []byte
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
	h := m.options
	if h.kept != nil && h.kept.Load != nil {
		var text bytes.Buffer
		err := h.kept.Load(ctx, m.name, &text)
		if messages.CodeOf(err) == messages.CodeNotFound {
			return nil, nil
		}
		return text.Bytes(), err
	}
	if folder := h.Store.Folder(h.Env()); folder != "" {
		text, err := regular.Read(filepath.Join(folder, m.name), regular.Large)
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
	h := m.options
	if h.kept != nil && h.kept.Save != nil {
		return h.kept.Save(ctx, m.name, bytes.NewReader(text))
	}
	if folder := h.Store.Folder(h.Env()); folder != "" {
		return confined.WriteDurable(folder, m.name, 0o600, string(text))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memory = text
	return nil
}

// newClock returns the clock for the operator's schedules, or nil if there are none.
func (h *Options) newClock(log *zap.Logger) *schedule.Clock {
	if h.file == nil || len(h.file.Schedules) == 0 {
		return nil
	}
	m := &marks[schedule.Marks]{options: h, name: "schedules.json"}
	return &schedule.Clock{Config: schedule.Config{Schedules: h.file.Schedules, Load: m.load, Save: m.save, Log: log,
		Submit: func(ctx context.Context, q messages.Request) (messages.RunID, error) {
			return h.program.runtime().Submit(ctx, q)
		},
		State: func(ctx context.Context, id messages.RunID) (messages.State, error) {
			return h.program.runtime().State(ctx, id)
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
