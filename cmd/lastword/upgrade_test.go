package main

import (
	"bufio"
	"context"
	"database/sql"
	bigendian "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// Each file here is the journal.db that a server of its schema left when it was killed: it had a prompt that was
// answered, one whose answer had begun, and a plan that waited for a person. With -update the server that
// LASTWORD_UPGRADE_FROM names, or this one, writes the file of its schema if there is none. Its questions must be allowed
// to wait for years.
const upgradeFolder = "testdata/upgrade"

// years is as long as a limit may be. The files are read for so long: their runs are kept, and their question is open.
const years = "87000h"

// waitingPlan has written a file and asks before it writes another.
const waitingPlan = `
steps:
  - {name: draft, write: {name: draft.txt, text: a draft}}
  - {name: sure, needs: draft, ask: {prompt: "Publish?"}, timeout: ` + years + `}
  - {name: out, needs: sure, write: {name: out.txt, text: published}}
result: ${steps.out.outcome}
`

// "a database of every schema is read, its waiting runs go on, and verify passes"
func TestUpgrade(t *testing.T) {
	if *update {
		writeUpgrade(t)
	}
	files, err := filepath.Glob(filepath.Join(upgradeFolder, "schema*.db"))
	must(t, err)
	var current, newest int
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			newest = max(newest, schemaOf(t, file))
			kept := t.TempDir()
			copyFile(t, file, filepath.Join(kept, "journal.db"))
			upgraded(t, kept)
			current = schemaOf(t, filepath.Join(kept, "journal.db"))
		})
	}
	if len(files) != current || newest != current {
		t.Errorf("%d databases up to schema %d, and this program writes %d: add the missing ones with -update", len(files), newest, current)
	}
}

// upgraded serves the folder, and judges its three runs.
func upgraded(t *testing.T, kept string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code, schema := exit.Completed, schemaOf(t, filepath.Join(kept, "journal.db"))
	if schema > 5 { // a server whose key is lost has signed its ledger
		code = exit.Untrusted
	}
	if got := verifyAll(t, kept); schema < 5 && !strings.Contains(got.stderr, "start the server there once") ||
		schema >= 5 && (got.code != exit.Untrusted || !strings.Contains(got.stdout, "is sound: ")) {
		t.Errorf("before the server starts: %+v", got)
	}
	tokens, token := caller(t, "--scope", "run:read,run:write,run:answer") // the plan asks to confirm
	server := serving(t, patientServer(t, t.TempDir(), kept, tokens, "--retention", years))
	client, err := api.New(server.base(), token)
	must(t, err)
	list, _, err := client.List(ctx, messages.Query{Limit: 10}, "")
	must(t, err)
	seen := map[string]int{}
	for _, s := range list {
		seen[s.Job]++
		if s.Job == plan.Name {
			must(t, client.Answer(ctx, s.RunID, firstQuestion(ctx, t, client, s.RunID), json.RawMessage(`true`)))
		}
		state := ended(ctx, t, client, s.RunID)
		if s.Job == "prompt" && state.Status == messages.Failed {
			seen[string(state.End.Cause)]++
		} else if state.Status != messages.Completed || s.Job == "prompt" && !strings.Contains(string(state.End.Result), "largest park") {
			t.Errorf("%s %s is %s: %+v", s.Job, s.RunID, state.Status, state.End)
		}
	}
	if seen["prompt"] != 2 || seen["node_lost"] != 1 || seen[plan.Name] != 1 {
		t.Errorf("the runs are %v", seen)
	}
	server.ends(syscall.SIGTERM)
	if got := verifyAll(t, kept); got.code != code || !strings.Contains(got.stdout, "is sound: ") {
		t.Errorf("%+v", got)
	}
}

// "a database of a newer schema is refused with what to do, and stays as it is"
func TestDowngrade(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(upgradeFolder, "schema*.db"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	kept := t.TempDir()
	file := filepath.Join(kept, "journal.db")
	copyFile(t, slices.Max(files), file)
	inDatabase(t, file, func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), "PRAGMA user_version = 1000")
		return err
	})
	for _, args := range [][]string{{"serve", "--http", "127.0.0.1:0"}, {"verify", "--all"}, {"doctor"}} {
		got := run(t, nil, append(args, "--state", kept)...)
		said := strings.Join(strings.Fields(got.stdout+got.stderr), " ")
		if got.code == 0 || !strings.Contains(said, "written by a newer lastword (schema 1000, ") || !strings.Contains(said, "install that version, or ") {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if schemaOf(t, file) != 1000 {
		t.Error("the database is another")
	}
}

// writeUpgrade writes the file of a server's schema.
func writeUpgrade(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Text("The largest park is in the north."), testkit.Finish("stop"), testkit.Done())
	m.Answer(testkit.Text("A park that "), testkit.Stall())
	dir := t.TempDir()
	tokens, token := caller(t)
	cmd := patientServer(t, dir, dir+"/kept", tokens, "--base-url", m.URL(), "--model", "scripted")
	if old := os.Getenv("LASTWORD_UPGRADE_FROM"); old != "" {
		cmd.Path, cmd.Err = old, nil
	}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	must(t, err)
	line, err := bufio.NewReader(stderr).ReadString('\n')
	client, clientErr := api.New(regexp.MustCompile(`http://[^/]+`).FindString(line), token)
	if err != nil || clientErr != nil {
		t.Fatal(line, err, clientErr)
	}
	start := func(job string, input any) messages.RunID {
		data, err := json.Marshal(input)
		must(t, err)
		id, err := client.Submit(t.Context(), messages.Request{Job: job, Input: data})
		must(t, err)
		return id
	}
	until := func(id messages.RunID, kind messages.Kind) {
		for e, err := range client.Follow(t.Context(), id, messages.FollowOptions{}) {
			must(t, err)
			if e.Kind() == kind {
				return
			}
		}
		t.Fatalf("run %s has no %s", id, kind)
	}
	until(start("prompt", map[string]any{"text": "Which park is the largest?"}), messages.KindRunCompleted)
	until(start("prompt", map[string]any{"text": "And the oldest?"}), messages.KindTextDelta)
	firstQuestion(t.Context(), t, client, start(plan.Name, map[string]any{"plan": waitingPlan}))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	file := dir + "/kept/journal.db"
	inDatabase(t, file, func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	})
	to := filepath.Join(upgradeFolder, fmt.Sprintf("schema%d.db", schemaOf(t, file)))
	if _, err := os.Stat(to); err != nil {
		copyFile(t, file, to)
	}
}

// patientServer returns a server whose questions may wait for years.
func patientServer(t *testing.T, dir, kept, tokens string, more ...string) *exec.Cmd {
	t.Helper()
	cmd := binary(t, dir, append([]string{"serve", "--http", "127.0.0.1:0", "--state", kept, "--tokens", tokens}, more...)...)
	cmd.Path, cmd.Err = exec.LookPath("lastword-patient")
	cmd.Args[0] = cmd.Path
	return cmd
}

// caller returns a file of tokens, and the token of its only caller.
func caller(t *testing.T, args ...string) (file, token string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tokens")
	return file, strings.TrimSpace(run(t, nil, append([]string{"token", "add", "--file", file, "ann"}, args...)...).stdout)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	must(t, err)
	put(t, to, string(data))
}

func inDatabase(t *testing.T, file string, do func(*sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	must(t, err)
	defer db.Close()
	must(t, do(db))
}

// schemaOf is PRAGMA user_version, which the header of the file holds.
func schemaOf(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	return int(bigendian.BigEndian.Uint32(data[60:]))
}
