package testkit

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// judge checks the run against its promises.
func (b *breaking) judge() {
	var asked time.Time
	if i := slices.IndexFunc(b.log, func(e messages.Event) bool { return e.Kind() == messages.KindRunCanceling }); i >= 0 {
		asked = b.log[i].Time
	}
	over := b.log[len(b.log)-1].Time
	completed := b.end.Status == messages.Completed
	if took := over.Sub(asked); !asked.IsZero() && took >= 2*time.Second {
		b.breaks("the run ends %s after the cancel: give what waits the task's context", took)
	}
	if !completed && (b.how == refusing || b.how == restarting && !b.mayStayLost()) {
		b.breaks("the run ends as %s: %v", b.end.Status, b.end.End.Error)
	}
	if b.whole == nil {
		b.judgeSaid()
	} else if completed {
		b.judgeEnd()
	}
	for _, a := range b.end.Artifacts {
		if !a.Partial && b.hasOut() && b.files[filepath.ToSlash(filepath.Clean(nameOf(a)))] != a.SHA256 {
			b.breaks("the terminal names the file %s, which is not there as it says", nameOf(a))
		}
	}
}

func (b *breaking) hasOut() bool { return strings.Contains(string(b.input), b.out) }

func nameOf(a messages.Artifact) string {
	return cmp.Or(a.Path, a.Name)
}

// mayStayLost reports whether the run of a killed node ended by the job's own rule: nothing of the job says that it may be
// called again, or an effect that must not happen twice had begun.
func (b *breaking) mayStayLost() bool {
	if slices.ContainsFunc(b.end.Kept, func(k messages.StepKept) bool { return k.Begun && !k.Again }) { // of DoOnce
		return true
	}
	d := b.definition
	job, err := d.New(b.input)
	said, never := false, d.NoRestart || job.NoRestart
	for _, now := range b.end.Tasks { // the newest one counts, and is the last
		kept := func(k messages.StepKept) bool { return k.Task == now.Name }
		if i := slices.IndexFunc(job.Tasks, func(t actors.Task) bool { return t.Name == now.Name }); i >= 0 {
			said, never = job.Tasks[i].Policy.RetryCrash || slices.ContainsFunc(b.end.Kept, kept), never || job.Tasks[i].Once
		}
	}
	return err == nil && b.end.End.Cause == messages.CauseNodeLost && (never || !said && !d.Restart && !job.Restart)
}

// judgeSaid checks the files as they were when a task said that it wrote one.
func (b *breaking) judgeSaid() {
	n := map[string]int{}
	for _, e := range b.log {
		if a, ok := e.Body.(messages.ArtifactWritten); ok && b.hasOut() {
			files := b.saved[a.Task][n[a.Task]]
			if n[a.Task]++; files[nameOf(a.Artifact)] != a.SHA256 {
				b.breaks("%s says that it wrote %s before the file is there: say it after the file is synced", a.Task, nameOf(a.Artifact))
			}
		}
	}
}

// judgeEnd compares a completed run with the unbroken run. Nobody knows whether the step was made at which it was broken.
func (b *breaking) judgeEnd() {
	if got, want := saidBy(b.end), saidBy(b.whole.end); got != want {
		b.breaks("the run ends with %.300s, and unbroken with %.300s", got, want)
	}
	for _, n := range b.end.Notices {
		if n.Code == messages.NoticeStepUnused {
			b.breaks("%s: give a step the same name in each attempt", n.Text)
		}
	}
	if strings.HasSuffix(b.at, "("+string(messages.KindStepKept)+")") {
		return
	}
	for i, n := range b.done {
		if n != b.whole.done[i] {
			b.breaks("effect %d was made %d times, and unbroken %d: make it in actors.Do", i, n, b.whole.done[i])
		}
	}
	names := maps.Clone(b.files)
	maps.Copy(names, b.whole.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if b.files[name] != b.whole.files[name] {
			b.breaks("the file %s is not the one that an unbroken run leaves: make such an effect in actors.Do", name)
		}
	}
}

// saidBy returns a run's result and texts.
func saidBy(s messages.State) string {
	said := []string{"the result " + cmp.Or(string(s.End.Result), "none")}
	for _, text := range s.Streams {
		said = append(said, fmt.Sprintf("%s %q", text.Name, text.Text()))
	}
	return strings.Join(said, ", ")
}

// filesOf returns the digests of the files below a folder, by path, without hidden files.
func filesOf(dir string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") {
			text, err := os.ReadFile(name)
			below, _ := filepath.Rel(dir, name)
			all[filepath.ToSlash(below)] = messages.Digest(string(text))
			return err
		}
		return nil
	})
	return all
}
