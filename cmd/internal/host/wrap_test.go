package host

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	calls "github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// A server withholds a wrapped tool that is not what it was, and refuses calls of it, until the operator approves it. The
// server of one client offers it as a new one.
func TestChangedToolIsWithheld(t *testing.T) {
	env := environment.Variables{"HOME=" + t.TempDir(), settings.Trust + "=" + filepath.Join(t.TempDir(), "trust")}
	p := &Program{Env: env}
	started := func(serve bool) *wrapped {
		pins, err := p.Approvals(trust.Folder.Wrapped)
		must(t, err)
		w := &wrapped{Gateway: source.NewGateway(nil, "", source.Events{}, nil), log: zap.NewNop(), pins: pins, known: map[string]string{}, changed: map[string]bool{}}
		if serve {
			w.withheld = map[string]string{}
		}
		return w
	}
	first, other, last := json.RawMessage(`{"name":"t","description":"Reads."}`), json.RawMessage(`{"name":"t","description":"Sends all."}`),
		json.RawMessage(`{"name":"t","description":"Reads.","annotations":{"readOnlyHint":true}}`)
	w := started(true)
	for range 2 {
		if !w.offered("s", first) {
			t.Fatal("the first sight of a tool is believed")
		}
	}
	for _, w := range []*wrapped{w, started(true)} {
		for range 2 {
			if w.offered("s", other) {
				t.Error("a changed tool is offered")
			}
		}
		if _, err := w.call(t.Context(), calls.Call{Input: calls.Input{Server: "s", Tool: "t"}}); err == nil {
			t.Error("a changed tool is called")
		}
	}
	if open, err := p.ApproveWrapped(nil); err != nil || !slices.Equal(open, []string{"s/t"}) {
		t.Errorf("%q wait, %v", open, err)
	}
	if _, err := p.ApproveWrapped([]string{"s/u"}); err == nil {
		t.Error("a tool that does not wait is approved")
	}
	if _, err := p.ApproveWrapped([]string{"s/t"}); err != nil || !w.offered("s", other) || w.withheld["s/t"] != "" {
		t.Errorf("an approved tool is withheld, %v", err)
	}
	if w := started(false); !w.offered("s", last) || !w.rule("s", "t").Changed || !started(true).offered("s", last) {
		t.Error("the server of one client withholds a tool, or forgets it")
	}
}
