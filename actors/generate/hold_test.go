//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package generate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Of runs that write to one place at once, all that is there in the end is of the last.
func TestFilesAreOfOneRun(t *testing.T) {
	out, s := t.TempDir(), open(t, actors.Config{})
	var sources []string
	for i := range 8 {
		more := map[string]string{"README.md": fmt.Sprintf("# Garden\n\nGrows thing %d.\n", i)}
		for n := range 20 {
			more[fmt.Sprintf("bed%d/bed.go", n)] = fmt.Sprintf("// Package bed grows %d.\npackage bed\n", i)
		}
		sources = append(sources, sample(t, more))
	}
	var runs []*actors.Run
	for _, source := range sources {
		runs = append(runs, start(t, s, newJob(t, graphed(source, out), from("https://example.com/plants/garden", ""))))
	}
	whole := 0
	for _, run := range runs {
		state := wait(t, run)
		if state.Status != messages.Completed {
			t.Fatalf("%s: %+v", state.Status, state.End)
		}
		same := 0
		for _, a := range state.Artifacts {
			if data, err := os.ReadFile(filepath.Join(out, a.Path)); err == nil && messages.Digest(string(data)) == a.SHA256 {
				same++
			}
		}
		if same == len(state.Artifacts) {
			whole++
		}
	}
	if whole == 0 {
		t.Error("the files of no run are there whole")
	}
}

// A run that waits for another says so, and can be canceled.
func TestARunWaitsForAnotherThatWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, source := t.TempDir(), sample(t, nil)
		place := filepath.Join(out, "local", "garden")
		must(t, os.MkdirAll(place, 0o755))
		other, err := os.Open(place)
		must(t, err)
		if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
			t.Skip("there are no locks here:", err)
		}
		s := open(t, actors.Config{})
		patient, hasty := start(t, s, newJob(t, only(source, out), nowhere)), start(t, s, newJob(t, only(source, out), nowhere))
		said := false
		for e, err := range hasty.Events(t.Context(), 0) {
			must(t, err)
			if log, ok := e.Body.(messages.Log); ok && strings.Contains(log.Lines[0].Text, "waiting for another run") {
				said = true
				must(t, hasty.Cancel(t.Context(), "waited enough"))
			}
		}
		if state := wait(t, hasty); !said || state.Status != messages.Canceled || len(tree(t, place)) != 0 {
			t.Errorf("the one that waited is %s, and left %v; it said so: %t", state.Status, names(tree(t, place)), said)
		}
		must(t, other.Close())
		if state := wait(t, patient); state.Status != messages.Completed {
			t.Errorf("the other is %s: %+v", state.Status, state.End)
		}
	})
}
