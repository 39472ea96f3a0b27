package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A backup of a live server, restored elsewhere: every run and its files are there, and the public halves of
// the keys, but no private one and no approval; the run that waited for
// an answer goes on with it, and the one that was at work ends as after a crash.
func TestBackupIsRestored(t *testing.T) {
	dir := plant(t, gardenText)
	at := func(name string) string { return filepath.Join(dir, name) }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m := testkit.NewModel(t)
	m.Answer(testkit.Text("Once "), testkit.Stall())
	s := serveHTTP(t, dir, "--allow-local", "--state", "kept", "--out", "files", "--base-url", m.URL(), "--model", "scripted")
	generated := s.call("", "generate", `{"repository":"garden"}`).Structured.RunID
	client, err := api.New(s.base(), "")
	must(t, err)
	input, err := json.Marshal(map[string]any{"plan": publishing})
	must(t, err)
	waiting, err := client.Submit(ctx, messages.Request{Job: plan.Name, Input: input})
	must(t, err)
	question := firstQuestion(ctx, t, client, waiting)
	working, err := client.Submit(ctx, messages.Request{Job: "prompt", Input: []byte(`{"text":"Tell a tale."}`)})
	must(t, err)
	for e, err := range client.Follow(ctx, working, messages.FollowOptions{}) {
		must(t, err)
		if e.Kind() == messages.KindTextDelta {
			break
		}
	}
	put(t, at("kept/conversations/mia/c_1.jsonl"), "{}\n")
	put(t, at("kept/allowed-tools.jsonl"), "{}\n") // of 0.1.0
	keys, err := store.ReadKeys(at("kept"))
	must(t, err)
	put(t, at("kept/keys.json"), `{"seed":"c2VjcmV0","public":["`+store.KeyText(keys.Public[0])+`"]}`)
	said := func(code int, words string, args ...string) {
		t.Helper()
		if got := run(t, nil, args...); got.code != code || !strings.Contains(got.stdout+got.stderr, words) {
			t.Errorf("%q: %+v, want %q", args, got, words)
		}
	}
	said(exit.Completed, "kept is sound: 4 runs", "backup", at("b.tar.gz"), "--state", at("kept"), "--files", at("files"))
	said(exit.Configuration, "is there already", "backup", at("b.tar.gz"), "--state", at("kept"))
	if info, err := os.Stat(at("b.tar.gz")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v, %v", info, err)
	}
	key := run(t, nil, "key", "--state", at("kept")).stdout
	s.ends(syscall.SIGKILL)
	said(exit.Completed, "# Garden", "runs", "files", string(generated), "llms.txt", "--state", at("kept"))
	must(t, os.RemoveAll(at("kept")))

	said(exit.Configuration, "give --files FOLDER, too", "restore", at("b.tar.gz"), "--state", at("new"))
	said(exit.Configuration, "files is not empty", "restore", at("b.tar.gz"), "--state", at("new"), "--files", at("files"))
	said(exit.Completed, "new is sound: 4 runs", "restore", at("b.tar.gz"), "--state", at("new"), "--files", at("new-files"))
	said(exit.Completed, "is sound", "verify", string(generated), "--state", at("new"), "--files", at("new-files"), "--key", strings.TrimSpace(key))
	if text, err := os.ReadFile(at("new/keys.json")); err != nil || strings.Contains(string(text), "seed") {
		t.Errorf("the backup has a private key: %s, %v", text, err)
	}
	if _, err := os.Stat(at("new/allowed-tools.jsonl")); err == nil {
		t.Error("the backup brings approvals")
	}
	if again := run(t, nil, "key", "--state", at("new")).stdout; again != key {
		t.Errorf("the key is %q, want %q", again, key)
	}
	if text, err := os.ReadFile(at("new/conversations/mia/c_1.jsonl")); err != nil || string(text) != "{}\n" {
		t.Errorf("the conversation is %q, %v", text, err)
	}
	s = serveHTTP(t, dir, "--allow-local", "--state", "new", "--out", "new-files")
	client, err = api.New(s.base(), "")
	must(t, err)
	must(t, client.Answer(ctx, waiting, question, json.RawMessage("true")))
	if state := ended(ctx, t, client, waiting); state.Status != messages.Completed {
		t.Errorf("the run that waited: %+v", state.End)
	}
	if state := ended(ctx, t, client, working); state.End.Cause != messages.CauseNodeLost {
		t.Errorf("the run that was at work: %+v", state.End)
	}
	if text, err := os.ReadFile(at("new-files/out.txt")); err != nil || string(text) != "a draft, published" {
		t.Errorf("it has written %q, %v", text, err)
	}
	if code, text := s.get("/v1/runs/" + string(generated) + "/artifacts/llms.txt"); code != 200 || !strings.HasPrefix(text, "# Garden") {
		t.Errorf("the file of an earlier run: %d %s", code, text)
	}
}

// What is no whole backup is refused with a sentence, and nothing is written.
func TestRestoreRefusesDamage(t *testing.T) {
	dir := plant(t, gardenText)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{{"generate", at("garden"), "--state", at("kept"), "--out", at("files")},
		{"backup", at("b"), "--state", at("kept")}} {
		if got := run(t, nil, args...); got.code != exit.Completed {
			t.Fatalf("%+v", got)
		}
	}
	whole, err := os.ReadFile(at("b"))
	must(t, err)
	damaged := append([]byte{}, whole...)
	damaged[len(damaged)/2] ^= 1
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"cut":     {whole[:len(whole)-1], "is damaged or not whole"},
		"half":    {whole[:len(whole)/2], "is damaged or not whole"},
		"changed": {damaged, "is damaged or not whole"},
		"longer":  {append(append([]byte{}, whole...), 'x'), "is damaged or not whole"},
		"other":   {[]byte("a text"), "is no backup that this lastword knows"},
		"empty":   {nil, "is no backup that this lastword knows"},
	} {
		write(t, at(name), string(c.bytes))
		got := run(t, nil, "restore", at(name), "--state", at("new"))
		if got.code != exit.Configuration || !strings.Contains(got.stderr, c.says) || !strings.Contains(got.stderr, "nothing was restored") {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := os.Stat(at("new")); err == nil {
			t.Fatalf("%s: something was written", name)
		}
	}
	put(t, at("full/mine"), "mine")
	if got := run(t, nil, "restore", at("b"), "--state", at("full")); got.code != exit.Configuration || filesIn(t, at("full")) != "mine" {
		t.Errorf("%+v, %s", got, filesIn(t, at("full")))
	}
	if got := run(t, nil, "backup", at("c"), "--state", at("garden")); got.code != exit.Configuration || !strings.Contains(got.stderr, "nats stream backup") {
		t.Errorf("%+v", got)
	}
	f, err := os.OpenFile(at("kept/journal.db"), os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt(make([]byte, 8<<10), 4<<10)
		err = errors.Join(err, f.Close())
	}
	must(t, err)
	if got := run(t, nil, "backup", at("d"), "--state", at("kept")); got.code != exit.Configuration || !strings.Contains(got.stderr, "is damaged and cannot be copied") {
		t.Errorf("%+v", got)
	}
	if left, err := filepath.Glob(at(".lastword-backup-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", err, left)
	}
}
