package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// A retry makes the steps again that no run has kept, under the key of the first run; from a step on it makes the kept ones,
// too, under its own key. Runs of other callers and jobs, and runs that go on, leave it nothing.
func TestRetryGoesOnWithKeptSteps(t *testing.T) {
	var made []string // keys of the steps that were made
	asked := []string{"a", "b", "c"}
	fails := map[string]bool{}
	work := func(ctx context.Context, tc *actors.TaskContext, _ struct{}) (string, error) {
		for _, name := range asked {
			_, err := actors.Do(ctx, tc, name, func(ctx context.Context) (string, error) {
				key, err := tc.StepKey(ctx, name)
				made = append(made, key)
				if fails[name] {
					err = errors.New(name + " fails")
				}
				return key, err
			})
			if err != nil {
				return "", err
			}
		}
		return "done", nil
	}
	job, task := actors.Func("work", work), "work"
	job.New = func(json.RawMessage) (actors.Job, error) {
		return actors.Job{Name: "work", Tasks: []actors.Task{{Name: task, Run: func(ctx context.Context, tc *actors.TaskContext) error {
			_, err := work(ctx, tc, struct{}{})
			return err
		}}}}, nil
	}
	s := open(t, actors.Config{Jobs: []actors.Definition{job, actors.Func("other", work)}})
	start := func(job, principal string, labels map[string]string) messages.State {
		made = nil
		id, err := s.Submit(t.Context(), messages.Request{Job: job, Principal: principal, Labels: labels})
		noError(t, err)
		for _, err := range s.Events(t.Context(), id, 0) {
			noError(t, err)
		}
		state, err := s.State(t.Context(), id)
		noError(t, err)
		return state
	}
	is := func(what string, got messages.State, status messages.Status, keys ...string) {
		t.Helper()
		if got.Status != status || !slices.Equal(made, keys) {
			t.Errorf("%s: %s (%v) after making %q instead of %q", what, got.Status, got.End.Error, made, keys)
		}
	}
	fails["b"] = true
	one := start("work", "mia", nil)
	first := string(one.RunID)
	is("the first run", one, messages.Failed, first+"/a", first+"/b")
	of := map[string]string{messages.RetryLabel: first}
	is("a retry that fails, too", start("work", "mia", of), messages.Failed, first+"/b")
	fails["b"], fails["c"] = false, true
	is("one that goes further", start("work", "mia", of), messages.Failed, first+"/b", first+"/c")
	fails["c"] = false
	is("the last one", start("work", "mia", of), messages.Completed, first+"/c")
	from := start("work", "mia", map[string]string{messages.RetryLabel: first, messages.RetryFromLabel: "b"})
	is("from b", from, messages.Completed, string(from.RunID)+"/b", string(from.RunID)+"/c")
	is("after that", start("work", "mia", of), messages.Completed)
	if kept := start("work", "mia", of).Kept; len(kept) != 3 || string(kept[1].Result) != `"`+string(from.RunID)+`/b"` {
		t.Errorf("the retry keeps %+v", kept)
	}
	for _, asked = range [][]string{{"a", "c"}, nil} { // the code has changed
		if n := start("work", "mia", of).Notices; len(n) != 1 || n[0].Code != messages.NoticeStepUnused || !strings.Contains(n[0].Text, `"b"`) {
			t.Errorf("a retry that asks for %q alone has the notices %+v", asked, n)
		}
	}
	asked, task = []string{"a", "b", "c"}, "renamed"
	if got := start("work", "mia", of); got.Status != messages.Failed || len(made) > 0 || !strings.Contains(got.End.Error.Message, "steps of the task work,") {
		t.Errorf("a retry whose task is renamed: %s after making %q: %v", got.Status, made, got.End.Error)
	}
	task = "work"
	for what, c := range map[string]struct{ job, principal, says string }{
		"another caller": {"work", "noah", "no run of this job"}, "another job": {"other", "mia", "no run of this job"},
	} {
		if got := start(c.job, c.principal, of); got.Status != messages.Failed || len(made) > 0 || !strings.Contains(got.End.Error.Message, c.says) {
			t.Errorf("%s: %s after making %q: %v", what, got.Status, made, got.End.Error)
		}
	}
	if got := start("work", "mia", map[string]string{messages.RetryLabel: first, messages.RetryFromLabel: "x"}); got.Status != messages.Failed || !strings.Contains(got.End.Error.Message, `"x"`) {
		t.Errorf("from a step that is not kept: %s: %v", got.Status, got.End.Error)
	}
}
