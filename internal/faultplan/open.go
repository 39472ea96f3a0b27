package faultplan

import (
	"context"
	"testing"

	"github.com/seed889630bf/lastword/actors"
)

// Open returns a System, which is closed at the end of the test. What its runs come to is the test's to judge.
func Open(t testing.TB, config actors.Config) *actors.System {
	t.Helper()
	s, err := actors.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}
