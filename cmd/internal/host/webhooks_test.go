package host

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
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
