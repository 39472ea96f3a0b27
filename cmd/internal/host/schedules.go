package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// marks are what is kept of the schedules: for all nodes of the journal, in the state folder, or in memory.
type marks struct {
	options *Options
	mu      sync.Mutex
	memory  []byte
}

const marksName = "schedules.json"

func (m *marks) load(ctx context.Context) (all schedule.Marks, err error) {
	text, err := m.read(ctx)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

func (m *marks) read(ctx context.Context) ([]byte, error) {
	h := m.options
	if h.kept != nil && h.kept.Load != nil {
		var text bytes.Buffer
		err := h.kept.Load(ctx, marksName, &text)
		if messages.CodeOf(err) == messages.CodeNotFound {
			return nil, nil
		}
		return text.Bytes(), err
	}
	if folder := h.Store.Folder(h.Env()); folder != "" {
		text, err := os.ReadFile(filepath.Join(folder, marksName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return text, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory, nil
}

func (m *marks) save(ctx context.Context, all schedule.Marks) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	h := m.options
	if h.kept != nil && h.kept.Save != nil {
		return h.kept.Save(ctx, marksName, bytes.NewReader(text))
	}
	if folder := h.Store.Folder(h.Env()); folder != "" {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := atomicfile.WriteText(root, marksName, 0o600, string(text)); err != nil {
			return err
		}
		return atomicfile.SyncFolder(root, ".")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.memory = text
	return nil
}

// newClock makes the clock of the operator's schedules; nil without any.
func (h *Options) newClock(log *zap.Logger) *schedule.Clock {
	if h.file == nil || len(h.file.Schedules) == 0 {
		return nil
	}
	m := &marks{options: h}
	return &schedule.Clock{Config: schedule.Config{Schedules: h.file.Schedules, Load: m.load, Save: m.save, Log: log,
		Submit: func(ctx context.Context, q messages.Request) (messages.RunID, error) {
			return h.program.runtime().Submit(ctx, q)
		},
		State: func(ctx context.Context, id messages.RunID) (messages.State, error) {
			return h.program.runtime().State(ctx, id)
		}}}
}

// startClock runs the clock until stop is called.
func startClock(clock *schedule.Clock) (stop func()) {
	if clock == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { clock.Run(ctx) })
	return func() { cancel(); running.Wait() }
}
