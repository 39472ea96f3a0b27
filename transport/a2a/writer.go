package a2a

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// writer reads a task from its beginning, and writes it to one client. It is a door.Reader.
type writer struct {
	server
	*door.Wire // what follows the task; nil before
	call       door.Call
	base       string // the server's origin
	id         messages.RunID
	length     *int // how many messages of the history the client wants; nil is all

	head    uint64 // the client gets the task after this event; 0 is as it is now
	seen    string // and after the answer to this question
	waits   bool   // and when it asks something, or has ended
	cancels bool   // it is canceled before, and given when it has ended
	ended   int    // the error if it has ended; 0 is none

	run    transcript.Transcript
	status status // of the task
	paused bool   // it has asked something since the client has the task

	words         *door.Words
	before, after []byte // what stands around a piece in its frame
}

// Events reads a batch, and reports whether the client has all that it is to get.
func (w *writer) Events(batch []messages.Event) (done bool, err error) {
	for _, e := range batch {
		if e.Body == nil {
			continue
		}
		w.run.Apply(e, w.take)
		switch {
		case w.run.Ended != nil, w.Wire != nil && w.paused:
			return true, nil
		case w.Wire != nil || w.cancels || e.Seq < w.head || w.waits && w.asked() == nil:
		case w.seen == "" || w.answered(w.seen):
			return true, nil
		}
	}
	return false, nil
}

// asked is a question that waits for its answer.
func (w *writer) asked() *transcript.Item {
	for _, item := range w.run.Items() {
		if item.Kind == transcript.Question && !item.Closed {
			return item
		}
	}
	return nil
}

func (w *writer) answered(request string) bool {
	item := w.run.Find(transcript.Question, request)
	return item != nil && item.Closed
}

// Beat writes what keeps the stream open.
func (w *writer) Beat() { w.Wire.Beat() }

// Refuse writes why there is nothing more.
func (w *writer) Refuse(err error) { w.Emit(door.AnswerTo(w.call, nil, refusal(err))) }

// take takes an operation of the run.
func (w *writer) take(op *transcript.Op) {
	item := op.Item
	if item.Kind == transcript.Text {
		w.words.Take(op)
		return
	}
	switch item.Kind {
	case transcript.Run:
		w.runs(op)
	case transcript.Tool, transcript.Step, transcript.Child:
		if op.Do == transcript.Open || op.Do == transcript.Done && !op.Cut {
			w.works(op, " "+item.Name)
		}
	case transcript.Artifact:
		if op.Do == transcript.Done {
			w.artifact(w.file(item), false)
		} else if op.Do == transcript.Retract {
			w.artifact(artifact{ID: fileID(item), Parts: []part{{Text: ""}}}, false)
		}
	case transcript.Question:
		if op.Do == transcript.Wait || op.Do == transcript.Go {
			w.words.Take(op)
			w.paused = w.Wire != nil && op.Do == transcript.Wait
			w.question(op)
		}
	}
}

// artifact writes an artifact, or with follows a part of one.
func (w *writer) artifact(a artifact, follows bool) {
	if w.Wire != nil {
		w.Emit(w.frame(a, follows))
	}
}

func (w *writer) frame(a artifact, follows bool) []byte {
	return door.AnswerTo(w.call, event{Artifact: &update{TaskID: w.id, ContextID: w.context(), Artifact: &a, Append: follows}}, nil)
}

func (w *writer) context() string { return contextOf(w.id, w.run.Queued.Labels) }

func fileID(item *transcript.Item) string { return "file:" + item.ID }

// file is a file by reference.
func (w *writer) file(item *transcript.Item) artifact {
	a := transcript.FileOf(item)
	return artifact{fileID(item), a.Name, []part{{URL: w.base + "/v1/runs/" + string(w.id) + "/artifacts/" + url.PathEscape(a.Name),
		MediaType: messages.MediaType(a.Name)}}, a}
}

// result is the result of a completed run, unless its texts say it: one artifact or none.
func (w *writer) result() []artifact {
	b, _ := w.run.Ended.(messages.RunCompleted)
	said := door.ResultText(b.Result)
	if said == "" || slices.ContainsFunc(w.run.Items(), func(i *transcript.Item) bool { return i.Text() == said }) {
		return nil
	}
	one := part{Data: b.Result}
	if b.Result[0] == '"' {
		one = part{Text: said}
	}
	return []artifact{{"result:", "result", []part{one}, nil}}
}

// runs takes what concerns the run or a task of its.
func (w *writer) runs(op *transcript.Op) {
	switch op.Event.Body.(type) {
	case messages.RunQueued:
		w.change(op, "SUBMITTED")
	case messages.RunStarted:
		w.change(op, "WORKING")
	case messages.RunRecovered, messages.RunCanceling, messages.TaskFailed, messages.TaskRestarted:
		w.works(op, "")
	case messages.RunCompleted:
		w.ends(op, "COMPLETED")
	case messages.RunFailed:
		w.ends(op, "FAILED")
	case messages.RunCanceled:
		w.ends(op, "CANCELED")
	}
}

func (w *writer) ends(op *transcript.Op, state string) {
	w.words.Take(op)
	for _, one := range w.result() {
		w.artifact(one, false)
	}
	w.change(op, state, failing(op.Event.Body)...)
}

// failing says why a run has not completed.
func failing(end messages.Body) []part {
	why := door.Failure(end)
	if why == nil {
		return nil
	}
	return []part{{Text: why.Message}, {Data: door.JSON(why)}}
}

// works says in a sentence what happens, unless the task waits for an answer.
func (w *writer) works(op *transcript.Op, what string) {
	if w.asked() == nil {
		what = strings.Replace(string(op.Event.Kind()), ".", " ", 1) + what
		w.change(op, "WORKING", part{Text: cmp.Or(op.Event.Message, what)})
	}
}

// question says what the task waits for, or that it goes on.
func (w *writer) question(op *transcript.Op) {
	item := w.asked()
	if item == nil {
		w.change(op, "WORKING")
		return
	}
	w.change(op, waiting(item.Asked()), asking(item.Asked())...)
}

// waiting is the state of a task that asks.
func waiting(b messages.InputRequired) string {
	if b.InputKind == messages.InputSecret {
		return "AUTH_REQUIRED"
	}
	return "INPUT_REQUIRED"
}

// asking is a question as parts: a text, and for programs data.
func asking(b messages.InputRequired) []part {
	return []part{{Text: door.Prompt(b)}, {Data: door.JSON(map[string]any{"request": b.Request, "kind": b.InputKind, "schema": b.Schema})}}
}

// says is a message.
func (w *writer) says(role, id string, parts ...part) message {
	return message{MessageID: id, Role: role, Parts: parts, TaskID: w.id, ContextID: w.context()}
}

// change changes the status, and says why.
func (w *writer) change(op *transcript.Op, to string, parts ...part) {
	w.status = *w.statusOf(op.Event, to, parts)
	if w.Wire != nil {
		w.Emit(door.AnswerTo(w.call, event{Status: &update{TaskID: w.id, ContextID: w.context(), Status: &w.status}}, nil))
	}
}

func (w *writer) statusOf(e messages.Event, to string, parts []part) *status {
	s := status{State: state + to, Timestamp: stamp(e.Time)}
	if parts != nil {
		s.Message = new(w.says("ROLE_AGENT", fmt.Sprint(w.id, ".", e.Seq), parts...))
	}
	return &s
}

// task is the task as it is.
func (w *writer) task() *task {
	t := &task{w.id, w.context(), w.status, nil, w.history()}
	if text, begun := w.words.Text(); begun {
		t.Artifacts = append(t.Artifacts, answer(text))
	}
	for _, item := range w.run.Items() {
		if item.Kind == transcript.Artifact && item.Closed {
			t.Artifacts = append(t.Artifacts, w.file(item))
		}
	}
	t.Artifacts = append(t.Artifacts, w.result()...)
	return t
}

// history is what was said: the message that began the task, and questions with their answers.
func (w *writer) history() []message {
	q := w.run.Queued
	first := part{Data: q.Input}
	if job, err := w.door.Job(q.Job); err == nil && job.Text != "" {
		var input map[string]json.RawMessage
		_ = json.Unmarshal(q.Input, &input) // the job has read it
		first = part{Text: messages.Plain(input[job.Text])}
	}
	all := []message{w.says("ROLE_USER", cmp.Or(q.Labels[messageLabel], string(w.id)+".1"), first)}
	for _, item := range w.run.Items() {
		if b, ok := item.Latest.(messages.InputReceived); ok {
			id := string(w.id) + "." + item.ID
			all = append(all, w.says("ROLE_AGENT", id+".question", asking(item.Asked())...), w.says("ROLE_USER", id+".answer", part{Text: messages.Plain(b.Value)}))
		}
	}
	if w.length != nil {
		all = all[max(len(all)-max(*w.length, 0), 0):]
	}
	return all
}

// piece writes a piece of what the run says. There are most of these frames.
func (w *writer) piece(piece string, anew bool) {
	switch {
	case w.Wire == nil:
	case anew:
		w.artifact(answer(piece), false)
	default:
		if w.before == nil {
			w.before, w.after, _ = bytes.Cut(w.frame(answer("\x00"), true), door.JSON("\x00"))
		}
		w.Emit(slices.Concat(w.before, door.JSON(piece), w.after))
	}
}

// answer is what the run says, as an artifact.
func answer(text string) artifact { return artifact{"answer", "answer", []part{{Text: text}}, nil} }
