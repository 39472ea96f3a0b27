package replay

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// recording is the content of a file of recorded runs.
type recording struct {
	root *run
	runs map[messages.RunID]*run
}

// run is the log of a recorded run, with the answers that it got.
type run struct {
	id       messages.RunID
	log      []messages.Event
	fold     messages.Fold
	answers  map[string]*answer          // by the name of what was asked
	inputs   map[string][]messages.Event // answers of people, by request
	optional map[uint64]bool             // numbers of events that a step or tool emitted, and will not emit again
	canceled uint64                      // number of run.canceling, or 0
	written  map[string][]messages.Event // by task: artifacts since the last tool ended
}

// answer is the recorded end of a call, a step or an attempt.
type answer struct {
	told []messages.Body
	said []messages.Event // emitted before it by the tool itself
	end  messages.Event
	err  error
}

// read reads a recording, and checks its input files.
func read(file string) (*recording, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r, number := &recording{runs: map[messages.RunID]*run{}}, 0
	for line := range bytes.Lines(data) {
		number++
		if err := r.line(line, filepath.Dir(file)); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if r.root == nil || !r.root.log[len(r.root.log)-1].IsTerminal() {
		return nil, errors.New("the recording has no run that has ended")
	}
	return r, nil
}

// line adds a line of the file to the run that it belongs to; the first run is the root.
func (r *recording) line(line []byte, folder string) error {
	in, e, err := messages.RecordedLine(line)
	switch {
	case err != nil:
		return err
	case in.Name != "":
		return check(in, folder)
	}
	of := r.runs[e.RunID]
	if of == nil {
		of = &run{id: e.RunID, answers: map[string]*answer{}, inputs: map[string][]messages.Event{},
			optional: map[uint64]bool{}, written: map[string][]messages.Event{}}
		r.runs[e.RunID] = of
	}
	if r.root == nil {
		r.root = of
	}
	return of.add(e)
}

// check returns what is wrong with the input file, or nil.
func check(in messages.RecordedInput, folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, in.Name))
	is := messages.RecordInput(in.Name, data)
	switch {
	case err != nil:
		return fmt.Errorf("the run read %s with the sha256 %s, and it is not beside the recording: %w", in.Name, in.SHA256, err)
	case is.SHA256 != in.SHA256:
		return fmt.Errorf("%s is not what the run read: its sha256 is %s, and was %s", in.Name, is.SHA256, in.SHA256)
	}
	return nil
}

// add takes the next event of the log.
func (r *run) add(e messages.Event) error {
	if err := r.fold.Apply(e); err != nil {
		return err
	}
	r.log = append(r.log, e)
	switch b := e.Body.(type) {
	case messages.RunRecovered:
		return fmt.Errorf("the run was lost and recovered at %d; record one that was not", e.Seq)
	case messages.RunCanceling:
		r.canceled = e.Seq
	case messages.LLMCompleted:
		r.answered(b, e)
	case messages.ArtifactPartial:
		r.written[b.Task] = append(r.written[b.Task], e)
	case messages.ArtifactWritten:
		r.written[b.Task] = append(r.written[b.Task], e)
	case messages.ToolCompleted:
		r.returned(b, e)
	case messages.InputReceived:
		r.inputs[b.Request] = append(r.inputs[b.Request], e)
	case messages.StepKept:
		r.kept(b, e)
	case messages.TaskFailed:
		r.answers[failureOf(b.Task, b.Attempt)] = &answer{end: e, err: b.Error}
	}
	return nil
}

// since returns the events after the last one that first selects.
func (r *run) since(first func(messages.Body) bool) []messages.Event {
	for i, e := range slices.Backward(r.log) {
		if first(e.Body) {
			return r.log[i+1:]
		}
	}
	return nil
}

// answered keeps a model's answer with its thoughts. The text of a streamed answer is in the log.
func (r *run) answered(b messages.LLMCompleted, e messages.Event) {
	a, name := &answer{end: e}, messages.LabelOf(b.Call)
	for _, during := range r.since(func(body messages.Body) bool { s, ok := body.(messages.LLMStarted); return ok && s.Call == b.Call }) {
		if d, ok := during.Body.(messages.ThoughtDone); ok && strings.HasPrefix(d.Stream, name+".thought.") {
			a.told = append(a.told, d)
		}
	}
	if text, ok := r.fold.Stream(name); ok && b.Text == "" && !text.Closed {
		b.Text = text.Text()
	}
	a.told = append(a.told, b)
	r.answers[b.Call] = a
}

// returned keeps a tool's result, and what the tool itself emitted: artifacts and questions, which it emits again,
// and sub-runs, which it does not start again.
func (r *run) returned(b messages.ToolCompleted, e messages.Event) {
	a := &answer{told: []messages.Body{b}, end: e, said: r.written[b.Task]}
	delete(r.written, b.Task)
	for _, during := range r.since(func(body messages.Body) bool { s, ok := body.(messages.ToolStarted); return ok && s.Call == b.Call }) {
		switch d := during.Body.(type) {
		case messages.InputRequired:
			if strings.HasPrefix(d.Request, b.Call+".q") {
				a.said = append(a.said, during)
			}
		case messages.ChildStarted:
			r.optional[during.Seq] = d.Task == b.Task
		case messages.ChildEnded:
			r.optional[during.Seq] = true
		}
	}
	slices.SortStableFunc(a.said, func(x, y messages.Event) int { return int(x.Seq) - int(y.Seq) })
	r.answers[b.Call] = a
}

// kept keeps how a step ended. A replayed step does not emit its task's events again.
func (r *run) kept(b messages.StepKept, e messages.Event) {
	if b.Begun {
		return
	}
	now, _ := r.fold.Task(b.Task)
	r.answers[stepOf(b.Task, b.Step, now.Attempt)] = &answer{told: []messages.Body{b}, end: e}
	for _, during := range r.log[:len(r.log)-1] {
		if during.Seq > b.Since && b.Since > 0 && fieldsOf(during.Body)["task"] == b.Task {
			r.optional[during.Seq] = true
		}
	}
}

func stepOf(task, name string, attempt int) string {
	return fmt.Sprintf("step %d %s %s", attempt, task, name)
}

func failureOf(task string, attempt int) string { return fmt.Sprintf("failure %d %s", attempt, task) }
