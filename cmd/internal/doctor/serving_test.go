package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	api "github.com/seed889630bf/lastword/transport/http/client"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

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
		if err != nil {
			t.Fatal(err)
		}
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
