package main

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
)

// verify works beside a live server, and names the run, the number and the rule of what is wrong.
func TestVerify(t *testing.T) {
	dir := plant(t, gardenText)
	kept := filepath.Join(dir, "kept")
	command := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--allow-local", "--state", kept)
	trusted := settings.Trust + "=" + filepath.Join(t.TempDir(), "trust")
	command.Env = append(command.Env, trusted)
	s := serving(t, command)
	id := s.call("", "generate", `{"repository":"garden"}`).Structured.RunID
	if got := run(t, []string{trusted}, "verify", "--all", "--state", kept); got.code != exit.Completed || !strings.Contains(got.stdout, "is sound: 1 run, ") ||
		!strings.Contains(got.stdout, "trusted: yes") {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"verify", "--all", "--state", kept}, {"verify", string(id), "--state", kept, "--json"}, {"verify", string(id), "--server", s.base()},
		{"verify", "--heads", "--state", kept}} {
		if got := run(t, nil, args...); got.code != exit.Untrusted || !strings.Contains(got.stdout+got.stderr, "trusted: no") && !strings.Contains(got.stdout, `"trusted": false`) {
			t.Errorf("without a key %q: %+v", args, got)
		}
	}
	got := run(t, nil, "doctor", "--state", kept)
	if want := "and answers at " + s.base() + "; its database is sound"; !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), want) {
		t.Errorf("doctor says %+v, want %s", got, want)
	}
	if code, _ := s.get("/readyz"); code != http.StatusOK {
		t.Errorf("beside the checks the server is not ready: %d", code)
	}
	s.ends(syscall.SIGTERM)
	db, err := sql.Open("sqlite", filepath.Join(kept, "journal.db"))
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "UPDATE runs SET seq = seq + 1")
	must(t, err)
	got = run(t, nil, "verify", "--all", "--state", kept)
	if got.code != exit.Verification || !strings.HasPrefix(got.stdout, string(id)+": event ") ||
		!strings.Contains(got.stdout, ": the list says that the run is completed at ") || !strings.Contains(got.stdout, "[list]\n") ||
		!strings.Contains(got.stderr, "1 fault in "+kept+"; restore a backup") {
		t.Errorf("%+v", got)
	}
}

// A proof is checked without its server, also after the key was rotated; another key's is not taken for it.
func TestProof(t *testing.T) {
	dir := plant(t, gardenText)
	kept, file := filepath.Join(dir, "kept"), filepath.Join(dir, "proof.jsonl")
	trusted := settings.Trust + "=" + filepath.Join(t.TempDir(), "trust")
	seed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)) // 0.1.0 kept it beside the runs
	old := store.KeyText(seed.Public().(ed25519.PublicKey))
	put(t, filepath.Join(kept, "keys.json"), `{"seed":"`+store.KeyText(seed.Seed())+`","public":["`+old+`"]}`)
	command := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--allow-local", "--state", kept)
	command.Env = append(command.Env, trusted)
	s := serving(t, command)
	id := s.call("", "generate", `{"repository":"garden"}`).Structured.RunID
	prove := func() {
		t.Helper()
		got := run(t, nil, "runs", "proof", string(id), "--server", s.base())
		if got.code != exit.Completed {
			t.Fatalf("%+v", got)
		}
		write(t, file, got.stdout)
	}
	verified := func(code int, says string, args ...string) {
		t.Helper()
		if got := run(t, []string{trusted}, append([]string{"verify"}, args...)...); got.code != code || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("verify %q: %+v", args, got)
		}
	}
	prove()
	_, keys := s.get("/v1/key")
	first, _, _ := strings.Cut(run(t, nil, "key", "--state", kept).stdout, "\n")
	if want := `{"keys":["` + first + `","` + old + `"]}`; first == old || strings.TrimSpace(keys) != want {
		t.Errorf("the server's keys are %s, want %s", keys, want)
	}
	if text, err := os.ReadFile(filepath.Join(kept, "keys.json")); err != nil || strings.Contains(string(text), "seed") {
		t.Errorf("the private key is beside the runs: %s, %v", text, err)
	}
	verified(exit.Completed, "signed by "+first, file, "--state", kept)
	both := strings.Fields(run(t, []string{trusted}, "key", "--rotate", "--state", kept).stdout)
	if len(both) != 3 || both[1] != first {
		t.Errorf("after a rotation the keys are %q", both)
	}
	verified(exit.Completed, "completed up to number ", string(id), "--server", s.base())
	verified(exit.Completed, "signed by "+first, file, "--state", kept)
	prove()
	verified(exit.Completed, "signed by "+both[0], file, "--state", kept)
	verified(exit.Verification, "which may not sign here [proof]", file, "--key", first)
	noProof := filepath.Join(t.TempDir(), "run.jsonl")
	must(t, os.WriteFile(noProof, []byte("{}\n"), 0o600))
	verified(exit.Verification, "the proof: ", noProof)
	if code, _ := s.get("/v1/runs/r_none/proof"); code != http.StatusNotFound {
		t.Errorf("the proof of no run: %d", code)
	}
	inDatabase(t, filepath.Join(kept, "journal.db"), func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), `UPDATE ledger SET line = replace(line, '"blocks":"', '"blocks":"0')`)
		return err
	})
	if got := run(t, nil, "runs", "proof", string(id), "--server", s.base()); got.code == exit.Completed || !strings.Contains(got.stderr, "is not the one that it ended with") {
		t.Errorf("of a log that is another the proof is %+v", got)
	}
	s.ends(syscall.SIGTERM)
	if got := run(t, nil, "verify", file, "--state", kept); got.code != exit.Untrusted || !strings.Contains(got.stderr, "give --key with ") {
		t.Errorf("without a key: %+v", got)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	write(t, file, strings.Replace(string(text), `"run.started"`, `"run.storted"`, 1))
	verified(exit.Verification, string(id)+": event 2: the block's digest is another one [block]", file)
}

// An older database that somebody has put back is found by the head of a newer one, and only by it.
func TestHeads(t *testing.T) {
	dir := plant(t, gardenText)
	at := func(name string) string { return filepath.Join(dir, name) }
	trusted := []string{settings.Trust + "=" + filepath.Join(t.TempDir(), "trust")}
	command := func(code int, args ...string) string {
		t.Helper()
		got := run(t, trusted, args...)
		if got.code != code {
			t.Fatalf("%q: %+v", args, got)
		}
		if len(args) == 4 && args[1] == "--heads" {
			return got.stdout // a file of heads
		}
		return got.stdout + got.stderr
	}
	generate := func(out string) {
		command(exit.Completed, "generate", at("garden"), "--out", at(out), "--state", at("kept"), "--no-cache", "--quiet")
	}
	generate("a")
	write(t, at("early"), command(exit.Completed, "verify", "--heads", "--state", at("kept")))
	command(exit.Completed, "backup", at("old"), "--state", at("kept"))
	generate("b")
	write(t, at("late"), command(exit.Completed, "verify", "--heads", "--state", at("kept")))
	command(exit.Completed, "verify", "--all", "--heads", at("early"), at("late"), "--state", at("kept"))
	command(exit.Completed, "restore", at("old"), "--state", at("back"))
	command(exit.Completed, "verify", "--all", "--state", at("back"))
	command(exit.Completed, "verify", "--heads", at("early"), "--state", at("back"))
	if says := command(exit.Verification, "verify", "--heads", at("late"), "--state", at("back")); !strings.Contains(says, "the ledger has never had ") {
		t.Error(says)
	}
	holds := func(want bool) {
		t.Helper()
		if text, err := os.ReadFile(filepath.Join(at("kept"), "journal.db")); err != nil || bytes.Contains(text, []byte(at("garden"))) != want {
			t.Errorf("%v: the database holds a removed text: %t", err, !want)
		}
	}
	command(exit.Completed, "runs", "rm", "--status", "completed", "--state", at("kept")) // each opening is signed
	holds(true)
	command(exit.Completed, "runs", "rm", "--vacuum", "--state", at("kept"))
	holds(false)
	command(exit.Completed, "verify", "--heads", at("early"), at("late"), "--state", at("kept"))
	if says := command(exit.Configuration, "verify", "--heads", at("old"), "--state", at("back")); !strings.Contains(says, "no head of a ledger") {
		t.Error(says)
	}
}

// verifyAll verifies a folder, and trusts the keys in it.
func verifyAll(t *testing.T, kept string) ran {
	t.Helper()
	args := []string{"verify", "--all", "--state", kept}
	for key := range strings.FieldsSeq(run(t, nil, "key", "--state", kept).stdout) {
		args = append(args, "--key", key)
	}
	return run(t, nil, args...)
}
