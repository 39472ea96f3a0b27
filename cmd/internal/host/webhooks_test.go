package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/fatal"
	calls "github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

func TestCallbackHosts(t *testing.T) {
	f := &Flags{callbackHosts: []string{"hooks.example.com", "other.example.com:8443", "127.0.0.1"}}
	f.endpoint.Env = []string{settings.WebhookSecrets + "=whsec_a,whsec_b"}
	if f.checkCallback() == nil || new(Flags).checkCallback() != nil {
		t.Fatal("who names no host calls somebody back, or who names one nobody")
	}
	for url, allowed := range fatal.Table[map[string]bool](t, "testdata/callbacks.json") {
		to, err := f.callback(url)
		if (err == nil) != allowed || len(to.Secrets) != 2 || to.AllowPrivate {
			t.Errorf("%s: %+v, %v", url, to, err)
		}
	}
}

// What callers add to a run is kept in the state folder, so that it outlives the process. A refused change is not kept.
func TestAddedCallbacksAreKept(t *testing.T) {
	folder := t.TempDir()
	open := func() *catalog {
		return &catalog{added: &marks[map[messages.RunID]addedCallbacks]{stateFile: stateFile{store: &store.Store{}, folder: folder, name: "callbacks.json"}}}
	}
	for id, url := range map[string]string{"1": "", "2": "https://a.test"} {
		must(t, open().changeCallbacks(t.Context(), "r", func(urls map[string]string) error { urls[id] = url; return nil }))
	}
	full := errors.New("full")
	if err := open().changeCallbacks(t.Context(), "r", func(urls map[string]string) error { urls["3"] = "x"; return full }); !errors.Is(err, full) {
		t.Errorf("a refused change: %v", err)
	}
	reader := open()
	urls, err := reader.callbacksOf(t.Context(), "r")
	if again, _ := reader.callbacksOf(t.Context(), "r"); reflect.ValueOf(again).Pointer() != reflect.ValueOf(urls).Pointer() {
		t.Error("what has not changed was decoded again")
	}
	if others, _ := open().callbacksOf(t.Context(), "other"); err != nil || !maps.Equal(urls, map[string]string{"1": "", "2": "https://a.test"}) || len(others) > 0 {
		t.Errorf("%v, %v, and another run has %v", urls, err, others)
	}
	must(t, open().changeCallbacks(t.Context(), "r", func(urls map[string]string) error { urls["2"] = ""; return nil }))
	if urls, err = reader.callbacksOf(t.Context(), "r"); err != nil || urls["2"] != "" {
		t.Errorf("after a change by another: %v, %v", urls, err)
	}
}

// What operators are told holds no secret, in whatever field.
func TestLogTellsNoSecret(t *testing.T) {
	const apiKey, gardenToken = "sk-sesame-Sesame-0123", "t0ken-of-the-gardener"
	var stderr bytes.Buffer
	known := settings.Secrets([]string{"LASTWORD_API_KEY=" + apiKey, settings.GitTokens + "=git.example.com=" + gardenToken}, nil)
	log := (&Flags{verbose: true}).logger(known.Writer(&stderr))
	log.With(zap.String("with", apiKey)).Error("no "+gardenToken, zap.Error(fmt.Errorf("bad %s", apiKey)),
		zap.ByteString("body", []byte(`{"key":"`+apiKey+`"}`)), zap.Any("any", map[string]string{"a": gardenToken}))
	if strings.Count(stderr.String(), "[key]") != 3 || strings.Count(stderr.String(), "[token]") != 2 {
		t.Error(stderr.String())
	}
	if strings.Contains(stderr.String(), apiKey) || strings.Contains(stderr.String(), gardenToken) {
		t.Error(stderr.String())
	}
}

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
