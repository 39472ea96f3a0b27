package lmstxt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// copyArtifact copies a file of a run, or a file that a forgotten run has left in its folder.
func (d *door) copyArtifact(ctx context.Context, a readArguments, w io.Writer) error {
	if a.RunID == "" && a.RepoURL == "" {
		return messages.InvalidInput("name the run with run_id, or its repository with repo_url")
	}
	if a.RunID != "" {
		state, err := d.run(ctx, a.RunID)
		if err != nil {
			return err
		}
		return d.copyFrom(ctx, state, a.ArtifactName, w)
	}
	out, err := d.local(a.OutputDir)
	if err != nil {
		return err
	}
	for state, err := range d.runsOf(ctx, a.RepoURL, out) {
		if err != nil {
			return err
		}
		if state.Status.IsEnded() && !isLog(a.ArtifactName) && !has(state, a.ArtifactName) {
			continue
		}
		err := d.copyFrom(ctx, state, a.ArtifactName, w)
		if messages.CodeOf(err) != messages.CodeNotFound {
			return err
		}
	}
	return d.copyLeft(ctx, out, a, w)
}

// unfinished is the error for a file of a run that has not ended.
type unfinished struct{ error }

func (u *unfinished) Unwrap() error { return u.error }

func has(state messages.State, name string) bool {
	return slices.ContainsFunc(state.Artifacts, func(a messages.Artifact) bool { return a.Name == name && !a.Partial })
}

// copyFrom copies a file that the run wrote, or its log. The run must have ended.
func (d *door) copyFrom(ctx context.Context, state messages.State, name string, w io.Writer) error {
	switch {
	case !state.Status.IsEnded():
		e := messages.Errorf(messages.CodeUnavailable,
			"run %s is %s, so there is no %s yet; wait for its end with run_wait", state.RunID, state.Status, name)
		e.Retryable = true
		return &unfinished{e}
	case isLog(name):
		return d.copyLog(ctx, state, name, w)
	case !has(state, name):
		err := messages.Errorf(messages.CodeNotFound, "run %s, which is %s, has no %s; %s", state.RunID, state.Status,
			name, names(state))
		return d.copyLater(ctx, state, name, w, err)
	}
	file, _, err := d.OpenArtifact(ctx, state, name)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return d.copyLater(ctx, state, name, w, err)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

// copyLater copies the file from the last run that was made for this one, if this one does not have it any more. If
// there is no such run, it returns the error none.
func (d *door) copyLater(ctx context.Context, state messages.State, name string, w io.Writer, none error) error {
	later, err := d.madeFor(ctx, state, name)
	if err != nil || later.RunID == state.RunID {
		return none
	}
	return d.copyFrom(ctx, later, name, w)
}

// names lists the artifacts of a run, for an error message.
func names(state messages.State) string {
	var all []string
	for _, a := range state.Artifacts {
		if !a.Partial && !isPage(a) {
			all = append(all, a.Name)
		}
	}
	if len(all) == 0 {
		return "it wrote nothing"
	}
	return "it has " + strings.Join(all, ", ")
}

// copyLeft copies a file of a run that the runtime has forgotten.
func (d *door) copyLeft(ctx context.Context, out string, a readArguments, w io.Writer) error {
	dirs := d.foldersOf(ctx, a.RepoURL)
	for _, s := range spellings(a.RepoURL) {
		dirs = append(dirs, s.folder(), path.Join(s.host, s.folder()))
	}
	for _, dir := range dirs {
		if isLog(a.ArtifactName) {
			break
		}
		for _, name := range []string{place(dir, a.ArtifactName), path.Join(dir, a.ArtifactName)} {
			err := d.copyFile(ctx, path.Join(out, name), w)
			if messages.CodeOf(err) != messages.CodeNotFound {
				return err
			}
		}
	}
	return messages.Errorf(messages.CodeNotFound, "no run for %s wrote %s there; generate it first", a.RepoURL,
		a.ArtifactName)
}

// copyFile copies a file below the caller's folder.
func (d *door) copyFile(ctx context.Context, name string, w io.Writer) error {
	var file fs.File
	files, err := d.files(ctx)
	if err == nil {
		defer files.Close()
		file, err = files.Open(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return messages.Errorf(messages.CodeNotFound, "there is no file %s", name)
	case err != nil:
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

// copyGraph copies a file of a graph from the caller's folder.
func (d *door) copyGraph(ctx context.Context, name string, w io.Writer) error {
	if !isGraph(name) {
		return messages.InvalidInput("%s is not a file of a graph; lmstxt_list_graph_artifacts lists them", name)
	}
	return d.copyFile(ctx, name, w)
}

const (
	logName    = "run.log"
	eventsName = "run.events.jsonl"
)

// isLog reports whether the name stands for a log of a run, not for a file.
func isLog(name string) bool { return name == logName || name == eventsName }

// copyLog writes the run's events, as JSON lines or as sentences.
func (d *door) copyLog(ctx context.Context, state messages.State, name string, w io.Writer) error {
	for e, err := range d.Events(ctx, state.RunID, 0) {
		if err != nil {
			return err
		}
		if name == eventsName {
			err = json.NewEncoder(w).Encode(e)
		} else {
			sentences(w, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sentences writes what an event says for people.
func sentences(w io.Writer, e messages.Event) {
	stamp := e.Time.UTC().Format(time.RFC3339Nano)
	if e.Message != "" {
		fmt.Fprintf(w, "%s %s %s\n", stamp, e.Kind(), e.Message)
	}
	for _, l := range lines(e.Body) {
		fmt.Fprintf(w, "%s %s %s\n", stamp, l.Level, l.Text)
	}
}

// lines returns the log lines in an event.
func lines(b messages.Body) []messages.LogLine {
	switch b := b.(type) {
	case messages.Log:
		return b.Lines
	case messages.Merged:
		for _, part := range b.Parts {
			if log, ok := part.(messages.Log); ok {
				return log.Lines
			}
		}
	}
	return nil
}
