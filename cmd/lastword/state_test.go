package main

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

// state check works beside a live server, and names the run whose log is wrong.
func TestStateCheck(t *testing.T) {
	dir := plant(t, gardenText)
	kept := filepath.Join(dir, "kept")
	s := serveHTTP(t, dir, "--allow-local", "--state", kept)
	id := s.call("", "generate", `{"repository":"garden"}`).Structured.RunID
	if got := run(t, nil, "state", "check", "--state", kept); got.code != exit.Completed || !strings.Contains(got.stdout, "is sound: 1 run, ") {
		t.Errorf("%+v", got)
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
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE runs SET seq = seq + 1"); err != nil {
		t.Fatal(err)
	}
	got = run(t, nil, "state", "check", "--state", kept)
	if got.code != exit.Failed || !strings.HasPrefix(got.stdout, string(id)+": the list says that the run is completed at ") ||
		!strings.Contains(got.stderr, "1 fault in "+kept+"; restore a backup") {
		t.Errorf("%+v", got)
	}
}
