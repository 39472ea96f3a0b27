package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/probe"
	api "github.com/seed889630bf/lastword/transport/http/client"
	"github.com/seed889630bf/lastword/transport/llm"
)

// judged checks a line of doctor's.
func judged(t *testing.T, r probe.Result, status probe.Status, seen string) {
	t.Helper()
	if r.Status != status || !strings.Contains(r.Seen, seen) || (r.Remedy == "") != (status == probe.Pass) {
		t.Errorf("%+v, want %s, %q and a remedy where there is something to be done", r, status, seen)
	}
}

func TestDoctorOnClocks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for off, want := range map[time.Duration]string{
		0: "it is the server's", time.Second: "it is the server's", 30 * time.Second: "differs by 30s", -30 * time.Second: "differs by 30s",
	} {
		header := http.Header{"Date": {now.Add(-off).Format(http.TimeFormat)}}
		judged(t, Clock(&llm.Page{Header: header, Came: now}), probe.Pass, want)
	}
	ahead := http.Header{"Date": {now.Add(time.Hour).Format(http.TimeFormat)}}
	judged(t, Clock(&llm.Page{Header: ahead, Came: now}), probe.Warn, "1h0m0s")
	judged(t, Clock(&llm.Page{Came: now}), probe.Pass, "does not tell")
}

func TestDoctorOnRoom(t *testing.T) {
	judged(t, room(10<<20, true), probe.Fail, "10 MB free")
	judged(t, room(500e6, true), probe.Warn, "500 MB free")
	judged(t, room(5e9, true), probe.Pass, "5,000 MB free")
	judged(t, room(0, false), probe.Pass, "does not report")
}

func TestDoctorOnFolders(t *testing.T) {
	judged(t, Output(t.TempDir()), probe.Pass, "can be written")
	judged(t, Output(t.TempDir()+"/a/b"), probe.Pass, "will be made")
	judged(t, Output("machine_test.go/docs"), probe.Fail, "machine_test.go/docs")
	judged(t, Cache(""), probe.Warn, "no place")
}

// What a server says of its own troubles comes with what to do.
func TestServingInTrouble(t *testing.T) {
	const aside, retries = "lastword_runs_set_aside 2\n", "lastword_runs_active 3\nlastword_journal_retries 4\n"
	for name, c := range map[string]struct {
		answers map[string]string // 200; those that are not there are 404, and those that begin with ! are 503
		id      string
		status  probe.Status
		seen    string
	}{
		"full disk":       {map[string]string{"/readyz": "!the disk of /srv is full"}, "serve", probe.Fail, "takes no runs: the disk of /srv is full"},
		"another program": {nil, "serve", probe.Fail, "is no server of lastword: its /readyz answers 404"},
		"broken logs":     {map[string]string{"/readyz": "ready", "/v1/runs": "{}", "/metrics": aside + retries}, "serve-store", probe.Warn, "2 runs cannot be read"},
		"slow disk":       {map[string]string{"/readyz": "ready", "/v1/runs": "{}", "/metrics": retries}, "serve-store", probe.Warn, "4 writes had to be tried again"},
		"one node alone":  {map[string]string{"/readyz": "ready", "/v1/runs": "{}", "/metrics": "lastword_sessions_local 1\n"}, "serve-store", probe.Warn, "has no --session-key"},
		"another version": {map[string]string{"/readyz": "ready", "/v1/runs": "{}", "/openapi.json": `{"info":{"version":"v9.0.0"}}`}, "serve-build", probe.Warn, "the server is lastword v9.0.0"},
		"no model": {map[string]string{"/readyz": "ready", "/v1/runs": "{}", "/v1/models": `{"data":[{"id":"chat"}]}`, "/v1/jobs": `{"jobs":[{"name":"chat"}]}`},
			"serve-models", probe.Warn, "reaches no server of models"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, found := c.answers[r.URL.Path]
			switch words, unready := strings.CutPrefix(text, "!"); {
			case !found:
				http.NotFound(w, r)
			case unready:
				http.Error(w, words, http.StatusServiceUnavailable)
			default:
				_, _ = w.Write([]byte(text))
			}
		}))
		client, err := api.New(server.URL, "")
		fatal.IfError(t, err)
		found := false
		for _, r := range Serving(t.Context(), client, server.URL, false) {
			if r.ID == c.id {
				found = true
				judged(t, r, c.status, c.seen)
			}
		}
		if server.Close(); !found {
			t.Errorf("%s: there is no %s", name, c.id)
		}
	}
}
