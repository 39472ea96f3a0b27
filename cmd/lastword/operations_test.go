package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// labelsOf are the names of labels in an expression.
var labelsOf = regexp.MustCompile(`by \([a-z_, ]+\)|\{\{[^}]*\}\}`)

// metricName is a metric of ours in an expression, with what a histogram adds to its name.
var metricName = regexp.MustCompile(`\b((?:lastword|gen_ai|process|go)_[a-z_]+?)(?:_bucket|_count|_sum)?\b[\[{ )\\"}+]`)

// Every metric that the dashboard and the alerts name is one that a server gives once it has run some jobs, and each of the
// server's own is on the dashboard or in an alert.
func TestOperationsNameMetrics(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "jobs.yaml"), "jobs:\n  fails: {description: Fail., command: [sh, -c, exit 75], env: [PATH], retry: {times: 1, on: [75]}}\n")
	m := testkit.NewModel(t)
	m.Answer(testkit.Call(0, "c", "list_files", `{"path":"."}`), testkit.Finish("tool_calls"), testkit.Usage(20, 5), testkit.Done())
	m.Answer(testkit.Text("Done."), testkit.Finish("stop"), testkit.Usage(40, 2), testkit.Done())
	command := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--jobs", "jobs.yaml", "--base-url", m.URL(), "--model", "scripted")
	command.Env = append(command.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1")
	s := serving(t, command)
	client, err := api.New(s.base(), "")
	must(t, err)
	for job, input := range map[string]string{"fails": "{}", chat.Name: `{"message":"Look around."}`} {
		id, err := client.Submit(t.Context(), messages.Request{Job: job, Input: []byte(input)})
		must(t, err)
		ended(t.Context(), t, client, id)
	}
	code, page := s.get("/metrics")
	if code != http.StatusOK {
		t.Fatal(code, page)
	}
	has := map[string]bool{} // whether somebody looks at it
	for line := range strings.Lines(page) {
		if rest, found := strings.CutPrefix(line, "# TYPE "); found {
			name, _, _ := strings.Cut(rest, " ")
			has[name] = false
		}
	}
	for _, name := range []string{"dashboard.json", "alerts.yml"} {
		text, err := os.ReadFile("../../docs/operations/" + name)
		must(t, err)
		for _, found := range metricName.FindAllStringSubmatch(labelsOf.ReplaceAllString(string(text), ""), -1) {
			if _, known := has[found[1]]; !known {
				t.Errorf("%s: the server has no metric %s", name, found[1])
			}
			has[found[1]] = true
		}
	}
	for name, seen := range has {
		if strings.HasPrefix(name, "lastword_") && !seen && name != "lastword_spans_dropped_total" {
			t.Errorf("nobody looks at %s", name)
		}
	}
}

// The sample issuer's tokens are callers of a server.
func TestOperationsIssuer(t *testing.T) {
	if version, _ := exec.Command("openssl", "version").Output(); !strings.HasPrefix(string(version), "OpenSSL 3") {
		t.Skip("the sample needs OpenSSL 3")
	}
	dir := t.TempDir()
	url := testkit.ServeURL(t, http.FileServer(http.Dir(dir+"/public")))
	line, err := exec.Command("sh", "../../docs/operations/issuer.sh", dir, url, "here", "mia", "run:read x").Output()
	must(t, err)
	token := strings.TrimSpace(string(line))
	s := serving(t, binary(t, dir, "serve", "--http", "127.0.0.1:0", "--ephemeral", "--jwt-issuer", url, "--jwt-audience", "here"))
	for bearer, want := range map[string]int{token: http.StatusOK, strings.ToLower(token): http.StatusUnauthorized} {
		if got, page := s.get("/v1/runs", "Authorization", "Bearer "+bearer); got != want {
			t.Errorf("%s gets %d, want %d: %s", bearer, got, want, page)
		}
	}
}

// The samples start serve with flags that it has.
func TestOperationsNameFlags(t *testing.T) {
	serve := serveCommand(&host.Program{})
	flag, comment := regexp.MustCompile(`--[a-z][a-z-]+`), regexp.MustCompile(`(?m)#.*$`)
	for _, name := range []string{"compose.yaml", "kubernetes.yaml"} {
		text, err := os.ReadFile("../../docs/operations/" + name)
		must(t, err)
		all := flag.FindAllString(comment.ReplaceAllString(string(text), ""), -1)
		if len(all) == 0 {
			t.Errorf("%s starts no server", name)
		}
		for _, f := range all {
			if serve.Flags().Lookup(strings.TrimPrefix(f, "--")) == nil {
				t.Errorf("%s: serve has no flag %s", name, f)
			}
		}
	}
}
