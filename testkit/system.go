package testkit

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
	"github.com/seed889630bf/lastword/testkit/internal/replay"
)

// Stage is a System on virtual time, for the runs of one test.
type Stage struct {
	*actors.System
	faults *faultplan.Faults
	t      *testing.T
}

// System runs play with its own System, in a bubble of virtual time ([synctest.Test]), whose *testing.T play
// gets. It closes the System at the end; a leftover goroutine fails the test. It replaces the config's Inject.
func System(t *testing.T, config actors.Config, play func(*testing.T, *Stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		faults := faultplan.NewFaults()
		s, err := actors.New(t.Context(), faults.Config(config))
		must(t, err)
		defer func() {
			faults.Release()
			if err := s.Close(context.Background()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}()
		play(t, &Stage{s, faults, t})
	})
}

// Run starts a run of the job with the given faults.
func (s *Stage) Run(job actors.Job, faults ...Fault) *actors.Run {
	s.t.Helper()
	trial, err := s.faults.Start(s.t.Context(), s.System, job, faultplan.FaultPlan{Faults: faults})
	must(s.t, err)
	return trial.Run
}

// Expect reads the run to its end, checks it with [CheckLog], and requires events of these kinds in this order, with
// any others between them. It returns all events.
func (s *Stage) Expect(run *actors.Run, kinds ...messages.Kind) []messages.Event {
	s.t.Helper()
	var events []messages.Event
	said := make([]messages.Kind, 0, len(kinds))
	for e, err := range run.Events(s.t.Context(), 0) {
		must(s.t, err)
		events, said = append(events, e), append(said, e.Kind())
	}
	if err := CheckLog(0, events); err != nil {
		s.t.Error(err)
	}
	rest := said
	for _, kind := range kinds {
		i := slices.Index(rest, kind)
		if i < 0 {
			s.t.Fatalf("there is no %s in its place: the run said %v", kind, said)
		}
		rest = rest[i+1:]
	}
	return events
}

// Ends waits for the run's terminal, and requires the given status and cause.
func (s *Stage) Ends(run *actors.Run, status messages.Status, cause messages.Code) messages.State {
	s.t.Helper()
	state, err := run.Wait(s.t.Context())
	must(s.t, err)
	if state.Status != status || state.End.Cause != cause {
		s.t.Errorf("the run ended as %s, cause %q, want %s, cause %q: %v", state.Status, state.End.Cause, status, cause,
			state.End.Error)
	}
	return state
}

// Replay runs a recorded run again with the given definition of its job, and fails the test at the first difference
// from the recording. Models, tools, people and [actors.Do] are not asked: their recorded answers come at the
// recorded times, in virtual time. The definition must offer a model's stream and tools. Everything else that the job
// does, such as running a program or reading a repository, it does again.
//
//	lastword record RUN > testdata/run.jsonl
//
// Milestones are compared by their subject: a call, a text, a question, a step, an artifact, a sub-run, a task.
// Pieces of texts, log lines, times, nodes and ids of runs are not compared. A request to a model is compared by its
// digest. A file that the recording names with its digest must be beside it, unchanged. A run that was recovered
// cannot be replayed.
func Replay(t *testing.T, file string, definition actors.Definition) {
	t.Helper()
	if err := replay.Difference(t, file, definition); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// Arm arms a fault point until the test ends. A rule without a probability fails the test if it has not fired by
// then.
func Arm(t testing.TB, board *fault.Board, rule fault.Rule) {
	t.Helper()
	must(t, board.Arm(rule))
	t.Cleanup(func() {
		for _, r := range board.List() {
			if r.Rule == rule && r.Fired == 0 && rule.Probability == 0 {
				t.Errorf("%s has not fired", rule.Point)
			}
		}
		board.Disarm(rule.Point)
	})
}

// Repository writes the files of a txtar archive to a new temporary folder, and returns the folder's path. The folder
// is removed when the test ends. A file name that leads out of the folder fails the test.
func Repository(t testing.TB, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse(archive).Files {
		if !filepath.IsLocal(f.Name) {
			t.Fatalf("%s leads out of the repository", f.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, f.Data, 0o644))
	}
	return dir
}

var must = fatal.IfError
