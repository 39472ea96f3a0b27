package host

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// shared is a store of several nodes, which has what 0.1.0 kept in a file.
func shared(old string) *store.Store {
	var value []byte
	var revision uint64
	return &store.Store{
		Get: func(context.Context, string) ([]byte, uint64, error) { return bytes.Clone(value), revision, nil },
		Set: func(_ context.Context, name string, to []byte, of uint64) error {
			if of != revision {
				return messages.Errorf(messages.CodeConflict, "another node has changed %s", name)
			}
			value, revision = to, revision+1
			return nil
		},
		Load: func(_ context.Context, _ string, w io.Writer) error {
			if old == "" {
				return messages.Errorf(messages.CodeNotFound, "no node has saved it")
			}
			_, err := io.WriteString(w, old)
			return err
		},
	}
}

// "two nodes cannot undo each other's pause, and a file of 0.1.0 is moved to where nothing expires"
func TestMarks(t *testing.T) {
	s, ctx := shared(`{"a":{"paused":true}}`), t.Context()
	node := func() *scheduleMarks {
		return &scheduleMarks{store: s, file: &marks[map[string]json.RawMessage]{stateFile: stateFile{store: s, name: "schedules.json"}}}
	}
	one, two := node(), node()
	pause := func(name string, all schedule.Marks) schedule.Marks {
		m := all[name]
		m.Paused = true
		return schedule.Marks{name: m}
	}
	first, err := one.load(ctx)
	if err != nil || !first["a"].Paused {
		t.Fatalf("the mark of 0.1.0 is %+v, %v", first, err)
	}
	if _, revision, _ := s.Get(ctx, ""); revision != 1 {
		t.Error("it is not moved")
	}
	stale, err := two.load(ctx)
	if err != nil || one.save(ctx, pause("b", first)) != nil {
		t.Fatal(err)
	}
	if err := two.save(ctx, pause("b", stale)); messages.CodeOf(err) != messages.CodeConflict {
		t.Errorf("a mark that is another: %v", err)
	}
	if err := two.save(ctx, pause("c", stale)); err != nil {
		t.Errorf("another mark: %v", err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if all, err := one.load(ctx); err != nil || !all[name].Paused {
			t.Errorf("%s goes on: %+v, %v", name, all, err)
		}
	}
	keys := &marks[store.Keys]{stateFile: stateFile{store: shared(`{"seed":"c2VjcmV0","public":[]}`), name: store.KeysFile}}
	_, err = keys.load(ctx)
	must(t, err)
	if text, _, _ := keys.store.Get(ctx, ""); strings.Contains(string(text), "seed") || len(text) == 0 {
		t.Errorf("the keys are %s", text)
	}
}
