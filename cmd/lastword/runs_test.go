package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A run that asks is waiting. It is answered by prefix or as the last, without its request, and only with what fits; it
// is started again, and runs are cancelled and forgotten by what they are. Ctrl-C leaves a run that others own, and says so.
func TestRuns(t *testing.T) {
	url := strings.TrimSuffix(serveHTTP(t, t.TempDir()).url, "/mcp")
	client, err := api.New(url, "")
	must(t, err)
	input, err := json.Marshal(map[string]string{"plan": asksTwice})
	must(t, err)
	id, err := client.Submit(t.Context(), messages.Request{Job: plan.Name, Input: input, Labels: map[string]string{"team": "docs"}})
	must(t, err)
	firstQuestion(t.Context(), t, client, id)
	runs := func(code int, stdout, stderr string, args ...string) string {
		t.Helper()
		got := run(t, []string{"LASTWORD_SERVER=" + url}, append([]string{"runs"}, args...)...)
		if got.code != code || !strings.Contains(got.stdout, stdout) || !strings.Contains(got.stderr, stderr) {
			t.Errorf("%v: %+v, want %d, %q, %q", args, got, code, stdout, stderr)
		}
		return strings.TrimSpace(got.stdout)
	}
	runs(0, string(id)+"  waiting for a person  plan", "", "ls", "--status", "waiting", "--label", "team=docs")
	runs(2, "", "did you mean waiting?", "ls", "--status", "wating")
	runs(3, "", "answer y or n", "answer", "last", "maybe")
	runs(1, "", "does not ask for \"name\"", "answer", "last", "name", "true")
	runs(0, "", "", "answer", string(id[:12]), "yes")
	sub := id
	for e, err := range client.Follow(t.Context(), id, messages.FollowOptions{Tree: true}) {
		must(t, err)
		if sub = e.RunID; sub != id && e.Kind() == messages.KindInputRequired {
			break
		}
	}
	runs(0, string(id)+"  waiting", "", "ls")
	runs(0, string(sub)+"  waiting", "", "ls", "--all")
	runs(3, "", "12 is too much; write 9 or less", "answer", "last", "12")
	runs(0, "", "", "answer", "last", "3")
	ended(t.Context(), t, client, id)
	runs(1, "", "asks nothing now", "answer", "last", "3")
	if got := runs(0, "completed", "", "ls", "--status", "completed"); strings.Contains(got, string(sub)) {
		t.Errorf("a sub-run is listed:\n%s", got)
	}

	token := filepath.Join(t.TempDir(), "token")
	put(t, token, "0123456789abcdef0123456789abcdef")
	again := messages.RunID(runs(0, "r_", "", "retry", string(id)))
	firstQuestion(t.Context(), t, client, again)
	for _, line := range []string{"runs watch", "runs events", "plan show", "record"} {
		cmd := binary(t, t.TempDir(), append(strings.Fields(line), string(again), "--server", url, "--token-file", token)...)
		said, err := cmd.StdoutPipe()
		must(t, err)
		cmd.Stderr = cmd.Stdout
		must(t, cmd.Start())
		lines := bufio.NewReader(said)
		_, err = lines.ReadString('\n')
		must(t, errors.Join(err, cmd.Process.Signal(os.Interrupt)))
		rest, err := io.ReadAll(lines)
		must(t, err)
		want := "\nlastword: the run goes on: lastword runs watch " + string(again) + " --server " + url + " --token-file " + token + " shows it again, and "
		if code := exitCode(t, cmd); code != exit.Interrupted || !strings.Contains("\n"+string(rest), want) {
			t.Errorf("%s after Ctrl-C: exit code %d and %s", line, code, rest)
		}
	}
	runs(2, "", "has no parameter n", "retry", "last", "--set", `params={"n":1}`)
	completed := run(t, []string{"LASTWORD_SERVER=" + url}, "__complete", "runs", "watch", "")
	if !strings.HasPrefix(completed.stdout, string(again)+"\twaiting for a person plan sure") {
		t.Errorf("the shell completes %q", completed.stdout)
	}
	runs(2, "", "give the ids of runs, or filters", "cancel")
	runs(0, "", "canceled "+string(again), "cancel", "--status", "waiting")
	runs(1, "", string(id)+" was not canceled: it ended completed", "cancel", string(id))
	runs(0, "", "forgot "+string(id), "rm", "--status", "completed", "--label", "team=docs")
	runs(0, "", "no run fits", "rm", "--status", "completed", "--label", "team=docs")
	runs(1, "", "no run begins with", "get", string(id[:12]))
}

// Every variable that a flag or the help names is a setting that leaves each command working.
func TestEveryVariableIsKnown(t *testing.T) {
	root := rootCommand(&host.Program{})
	env := []string{"LASTWORD_TOKEN=x", "LASTWORD_API_KEY=x", "LASTWORD_GIT_TOKEN=x"}
	for _, k := range settings.KeysOf(root) {
		for _, name := range k.Variables() {
			env = append(env, name+"="+map[string]string{"": "1", "bool": "false", "duration": "1s"}[k.Flag.Value.Type()])
			if value := k.Flag.DefValue; value != "" && value != "[]" {
				env[len(env)-1] = name + "=" + value
			}
		}
	}
	text, err := os.ReadFile("../../docs/cli.md")
	must(t, err)
	for _, name := range regexp.MustCompile(`LASTWORD_[A-Z_]+`).FindAllString(string(text), -1) {
		known := func(one string) bool { return strings.HasPrefix(one, name+"=") }
		if !slices.ContainsFunc(env, known) && name != "LASTWORD_CONFIG" {
			env = append(env, name+"=x")
		}
	}
	file := filepath.Join(t.TempDir(), "plan.yaml")
	put(t, file, `steps: [{name: a, write: {name: a.txt, text: x}}]`)
	check := func(env string, args ...string) {
		if got := run(t, strings.Fields(env), args...); got.code != exit.Completed {
			t.Errorf("%s: %v: %+v", env, args, got)
		}
	}
	check(strings.Join(env, " "), "config", "show")
	check(strings.Join(env, " "), "plan", "run", file, "--dry-run")
	check(strings.Join(env, " "), "runs", "ls", "--help")
}

// A recording is on the page that replay names, with all of its events, until replay is stopped.
func TestReplayOnThePage(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	stderr, out := io.Pipe()
	p := &host.Program{Args: []string{"replay", "testdata/greet.jsonl", "--page", "--progress", "plain"}, Stdout: io.Discard, Stderr: out,
		Commands: rootCommand}
	ended := make(chan int, 1)
	go func() { ended <- p.Run(ctx); out.Close() }()
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "the page: ")
	for lines.Scan() && !strings.Contains(lines.Text(), "events") {
	}
	go io.Copy(io.Discard, stderr)
	var state messages.State
	for _, at := range []string{url, strings.Replace(url, "/runs/", "/v1/runs/", 1)} {
		got, err := http.Get(at)
		if err != nil || !ok || got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", at, got, err)
		}
		defer got.Body.Close()
		if strings.Contains(at, "/v1/") {
			err = json.NewDecoder(got.Body).Decode(&state)
		}
		must(t, err)
	}
	stop()
	if code := <-ended; state.Status != messages.Completed || state.Seq != 7 || code != 0 {
		t.Errorf("the page has %s at %d, and replay exits with %d", state.Status, state.Seq, code)
	}
}

type fixedList struct {
	host.Source
	runs []messages.Summary
}

func (l fixedList) List(context.Context, messages.Query, string) ([]messages.Summary, string, error) {
	return l.runs, "", nil
}

// A list marks runs that work and have had no event for long, nor their sub-runs.
func TestListMarksSilentRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, now := time.Now(), time.Now().Add(messages.SilentAfter+5*time.Second)
		working := func(id messages.RunID, at time.Time) messages.Summary {
			return messages.Summary{RunID: id, Status: messages.Processing, QueuedAt: old, UpdatedAt: at}
		}
		asks := working("r_asks", old)
		asks.OpenRequests = []string{"sure"}
		list := []messages.Summary{working("r_plan.c1.c1", now), working("r_plan.c1", old), working("r_plan", old), asks, working("r_slow", old), working("r_new", now)}
		time.Sleep(time.Until(now))
		cmd, f := &cobra.Command{}, filter{}
		cmd.SetContext(t.Context())
		var out bytes.Buffer
		cmd.SetOut(&out)
		var runs []found
		for one, err := range f.pick(cmd, fixedList{runs: list}) {
			must(t, err)
			runs = append(runs, one)
		}
		must(t, printRuns(cmd, runs, false, ""))
		if got := out.String(); strings.Count(got, "silent") != 1 || !strings.Contains(got, "r_slow  processing (silent 2m 05s)") {
			t.Errorf("the list is\n%s", got)
		}
	})
}
