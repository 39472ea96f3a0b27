package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

//go:embed testdata/greet.yaml
var greets string

// Jobs are asked from who runs them: start has the flags, the help and the completion of the server's job, plans are checked
// with the server's jobs, and what a run wrote is there. What belongs to the runtime is no job.
func TestJobsAreAskedFromTheServer(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		put(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	jobs := file("jobs.yaml", greets)
	plan := file("plan.yaml", "name: hail\nparams: {who: {}}\nsteps:\n  - {name: a, job: greet, input: {name: \"${params.who}\"}}\n")
	file("input.json", `{"name":"Bob","how":"quiet"}`)
	got := filepath.Join(dir, "got")
	s := serveHTTP(t, dir, "--jobs", "jobs.yaml", "--state", filepath.Join(dir, "state"))
	defer s.ends(syscall.SIGTERM)
	file("bad.yaml", "steps:\n  - {name: a, job: greet}\n")
	for _, c := range fatal.Table[[]struct {
		Args, Stdout, Stderr string
		Code                 int
	}](t, "testdata/jobs.json") {
		args := strings.Split(strings.ReplaceAll(c.Args, "DIR", dir), " ")
		ran := run(t, []string{"LASTWORD_SERVER=" + s.base()}, args...)
		if ran.code != c.Code || !strings.Contains(ran.stdout, c.Stdout) || !strings.Contains(ran.stderr, c.Stderr) || strings.Contains(ran.stdout, "schedules") {
			t.Errorf("lastword %s: %+v, want %d, %q, %q", c.Args, ran, c.Code, c.Stdout, c.Stderr)
		}
	}
	for args, code := range map[string]int{"plan check " + plan: exit.Usage, "plan check " + plan + " --jobs " + jobs: 0, "plan graph " + plan + " --jobs " + jobs: 0,
		"plan run " + plan + " --param who=x --out " + got + " --jobs " + jobs: 0} {
		if ran := run(t, []string{"PATH=" + os.Getenv("PATH")}, strings.Fields(args)...); ran.code != code {
			t.Errorf("in this process, lastword %s: %+v", args, ran)
		}
	}
}

// The files of a run are found by the folder of the process that wrote them, also from elsewhere, until they are gone.
func TestFilesOfAProcessThatHasEnded(t *testing.T) {
	dir := plant(t, gardenText)
	at := func(name string) string { return filepath.Join(dir, name) }
	if got := run(t, nil, "generate", at("garden"), "--state", at("kept"), "--out", at("files")); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct {
		args, says string
		code       int
	}{{"last", "llms.txt ", 0}, {"last llms.txt", "# Garden", 0}, {"last --out " + at("copies"), at("copies/llms.txt"), 0}, {"last llms.txt", "was deleted", 1}} {
		got := run(t, nil, append([]string{"runs", "files", "--state", at("kept")}, strings.Fields(c.args)...)...)
		if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.says) {
			t.Errorf("%+v: %+v", c, got)
		}
		if _, err := os.Stat(at("copies/llms.txt")); err == nil {
			must(t, os.RemoveAll(at("files")))
		}
	}
}

// The name of a file leads nowhere else: not out of the folder, and to no hidden file.
func TestFilesOfARunGoNowhereElse(t *testing.T) {
	for _, name := range []string{"../x", "/tmp/x", ".bashrc", "a/../../x", ".git/hooks/x", "a/.env", "a\u202eb", ""} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/artifacts") {
				t.Errorf("%q was fetched", name)
			}
			_, _ = w.Write([]byte(`{"run_id":"r_k66hldz6ofnwat4rgzpadp2myg","status":"completed","artifacts":[{"name":"ok","bytes":0},{"name":"` + name + `","path":"ok","bytes":0}]}`))
		}))
		dir := t.TempDir()
		got := run(t, nil, "runs", "files", "r_k66hldz6ofnwat4rgzpadp2myg", "--out", filepath.Join(dir, "out"), "--server", s.URL)
		s.Close()
		if all, err := filepath.Glob(filepath.Join(dir, "out", "*")); got.code == 0 || len(all) > 0 || err != nil {
			t.Errorf("%q: %+v, and there are %q", name, got, all)
		}
	}
}

// A prompt of 4 MiB makes the server allocate at most 14 times its size, from the request to the log and the model's server.
func TestLargePromptAllocates(t *testing.T) {
	m := testkit.NewModel(t)
	admin := freeAddress(t)
	s := serveHTTP(t, t.TempDir(), "--state", "kept", "--base-url", m.URL(), "--model", "scripted", "--admin", admin)
	c, err := api.New(s.base(), "")
	must(t, err)
	allocated := func(words int) (bytes int) {
		m.Answer(testkit.Text("Yes."), testkit.Finish("stop"), testkit.Done())
		input, _ := json.Marshal(map[string]string{"text": strings.Repeat("say \"it\" & go\n", words)})
		id, err := c.Submit(t.Context(), messages.Request{Job: "prompt", Input: input})
		must(t, err)
		for range c.Follow(t.Context(), id, messages.FollowOptions{After: 1}) {
		}
		_, profile, err := testkit.ReadURL(t, http.MethodGet, "http://"+admin+"/debug/pprof/allocs?debug=1", "")
		must(t, err)
		_, total, _ := strings.Cut(profile, "# TotalAlloc = ")
		_, err = fmt.Sscan(total, &bytes)
		must(t, err)
		return bytes
	}
	const words = 4 << 20 / len(`say \"it\" \u0026 go\n`)
	before := allocated(1)
	if times := float64(allocated(words)-before) / (4 << 20); times > 14 {
		t.Errorf("the server has allocated %.1f times the prompt's size", times)
	}
}
