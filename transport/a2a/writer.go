package a2a

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/internal/pieces"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// writer reads a task from its beginning and writes it to one client. It is a door.Reader.
type writer struct {
	server
	*rpc.Wire              // set once the client gets events; nil before
	call      jsonrpc.Call // the request that is answered
	base      string       // the server's URL
	id        messages.RunID
	length    *int // how many messages of the history the client wants; nil means all

	head    uint64 // the client gets the task after this event; 0 means now
	seen    string // and after this question is answered
	waits   bool   // and after the task asks something or has ended
	cancels bool   // the task is canceled first, and sent when it has ended
	ended   int    // the error code if the task has ended; 0 means none

	run    transcript.Transcript
	status status // of the task
	paused bool   // the task has asked something since the client got it
	told   []told // what clients said to the task while it worked

	words         *pieces.Words // the text so far, in whole words
	mediaType     string        // of the newest piece
	before, after []byte        // the constant parts of its frame, around a piece of text
}

// told is a message to a task that worked, after as many questions had their answers.
type told struct {
	message
	after int
}

// Events reads a batch, and reports whether the client has everything.
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
		default:
			if seen := w.run.Find(transcript.Question, w.seen); w.seen == "" || seen != nil && seen.Closed {
				return true, nil
			}
		}
	}
	return false, nil
}

// asked returns a question that waits for its answer, or nil.
func (w *writer) asked() *transcript.Item {
	for _, item := range w.run.Items() {
		if item.Kind == transcript.Question && !item.Closed {
			return item
		}
	}
	return nil
}

// Beat writes a heartbeat.
func (w *writer) Beat() { w.Wire.Beat() }

// Refuse writes why no more events follow.
func (w *writer) Refuse(err error) { w.Emit(jsonrpc.AnswerTo(w.call, nil, refusal(err))) }

// take handles an operation of the run.
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
			w.artifact(w.file(item))
		} else if op.Do == transcript.Retract {
			w.artifact(artifact{ID: fileID(item), Parts: []part{{Text: ""}}})
		}
	case transcript.Question:
		if op.Do == transcript.Wait || op.Do == transcript.Go {
			w.words.Take(op)
			w.paused = w.Wire != nil && op.Do == transcript.Wait
			if waits := w.asked(); waits != nil {
				w.change(op, waiting(waits.Asked()), asking(waits.Asked())...)
			} else {
				w.change(op, after(op.Event))
			}
		}
	}
}

// artifact writes a whole artifact.
func (w *writer) artifact(a artifact) {
	if w.Wire != nil {
		w.Emit(w.frame(a, false))
	}
}

// frame returns the message with an artifact. follows says that it is appended to an earlier part.
func (w *writer) frame(a artifact, follows bool) []byte {
	return jsonrpc.AnswerTo(w.call, event{Artifact: &update{TaskID: w.id, ContextID: w.context(), Artifact: &a, Append: follows}}, nil)
}

func (w *writer) context() string { return contextOf(w.id, w.run.Queued.Labels) }

func fileID(item *transcript.Item) string { return "file:" + item.ID }

// file returns the artifact of a file, with its URL.
func (w *writer) file(item *transcript.Item) artifact {
	a := transcript.FileOf(item)
	return artifact{fileID(item), a.Name, []part{{URL: w.base + "/v1/runs/" + string(w.id) + "/artifacts/" + url.PathEscape(a.Name),
		MediaType: messages.MediaType(a.Name)}}, a}
}

// result returns an artifact with the result of a completed run, unless the result is one of its texts.
func (w *writer) result() []artifact {
	b, _ := w.run.Ended.(messages.RunCompleted)
	text := model.ResultText(b.Result)
	if text == "" || slices.ContainsFunc(w.run.Items(), func(i *transcript.Item) bool { return i.Text() == text }) {
		return nil
	}
	one := part{Data: b.Result}
	if b.Result[0] == '"' {
		one = part{Text: text}
	}
	return []artifact{{"result:", "result", []part{one}, nil}}
}

// runs handles operations that concern the run or one of its tasks.
func (w *writer) runs(op *transcript.Op) {
	switch op.Event.Body.(type) {
	case messages.RunQueued:
		w.change(op, ofStatus[messages.Pending])
	case messages.RunStarted:
		w.change(op, after(op.Event))
	case messages.RunRecovered, messages.RunCanceling, messages.TaskFailed, messages.TaskRestarted:
		w.works(op, "")
	case messages.MessageQueued:
		b := op.Event.Body.(messages.MessageQueued)
		w.told = append(w.told, told{w.says("ROLE_USER", strings.TrimPrefix(b.Message, sayPrefix), part{Text: b.Content}), len(w.answered())})
	case messages.RunCompleted, messages.RunFailed, messages.RunCanceled:
		w.ends(op)
	}
}

// ends writes the end of the task.
func (w *writer) ends(op *transcript.Op) {
	w.words.Take(op)
	for _, one := range w.result() {
		w.artifact(one)
	}
	w.change(op, after(op.Event), failing(op.Event.Body, op.Run.Ending())...)
}

// failing says why a run did not complete, or what its answer lacks.
func failing(terminal messages.Body, end model.Ending) []part {
	why := door.Failure(terminal)
	switch lack := end.Lack(); {
	case why != nil:
		return []part{{Text: why.Message}, {Data: door.JSON(why)}}
	case lack != "":
		return []part{{Text: lack}, {Data: door.JSON(map[string]any{"finish_reason": end.Reason})}}
	}
	return nil
}

// works describes an event in a sentence, unless the task waits for an answer.
func (w *writer) works(op *transcript.Op, what string) {
	if w.asked() == nil {
		what = strings.Replace(string(op.Event.Kind()), ".", " ", 1) + what
		w.change(op, after(op.Event), part{Text: cmp.Or(op.Event.Message, what)})
	}
}

// waiting returns the state of a task that asks.
func waiting(b messages.InputRequired) string {
	if b.InputKind == messages.InputSecret {
		return authRequired
	}
	return inputRequired
}

// asking returns a question as parts: text for people, and data for programs.
func asking(b messages.InputRequired) []part {
	return []part{{Text: door.Prompt(b)}, {Data: door.JSON(map[string]any{"request": b.Request, "kind": b.InputKind, "schema": b.Schema})}}
}

// says returns a message.
func (w *writer) says(role, id string, parts ...part) message {
	return message{MessageID: id, Role: role, Parts: parts, TaskID: w.id, ContextID: w.context()}
}

// change changes the status and writes it.
func (w *writer) change(op *transcript.Op, to string, parts ...part) {
	w.status = *w.statusOf(op.Event, to, parts)
	if w.Wire != nil {
		w.Emit(jsonrpc.AnswerTo(w.call, event{Status: &update{TaskID: w.id, ContextID: w.context(), Status: &w.status}}, nil))
	}
}

// statusOf returns the status after an event. parts is the message of the agent that goes with it, or nil.
func (w *writer) statusOf(e messages.Event, to string, parts []part) *status {
	s := status{State: to, Timestamp: stamp(e.Time)}
	if parts != nil {
		s.Message = new(w.says("ROLE_AGENT", fmt.Sprint(w.id, ".", e.Seq), parts...))
	}
	return &s
}

// task returns the task as it is now.
func (w *writer) task() *task {
	t := &task{w.id, w.context(), w.status, nil, w.history()}
	if text, mediaType, begun := w.words.Text(); begun {
		t.Artifacts = append(t.Artifacts, answer(text, mediaType))
	}
	for _, item := range w.run.Items() {
		if item.Kind == transcript.Artifact && item.Closed {
			t.Artifacts = append(t.Artifacts, w.file(item))
		}
	}
	t.Artifacts = append(t.Artifacts, w.result()...)
	return t
}

// answered returns the questions that have their answers.
func (w *writer) answered() []*transcript.Item {
	return slices.DeleteFunc(slices.Clone(w.run.Items()), func(item *transcript.Item) bool {
		_, is := item.Latest.(messages.InputReceived)
		return !is
	})
}

// history returns the messages so far: the one that began the task, those to it while it worked, and questions with their
// answers.
func (w *writer) history() []message {
	q := w.run.Queued
	first := part{Data: q.Input}
	if job, err := w.door.Job(q.Job); err == nil && job.PromptField != "" {
		var input map[string]json.RawMessage
		_ = json.Unmarshal(q.Input, &input) // the job has parsed it
		first = part{Text: messages.Plain(input[job.PromptField])}
	}
	all := []message{w.says("ROLE_USER", cmp.Or(q.Labels[messageLabel], string(w.id)+".1"), first)}
	said := w.told
	for i, item := range append(w.answered(), nil) {
		for ; len(said) > 0 && said[0].after == i; said = said[1:] {
			all = append(all, said[0].message)
		}
		if item != nil {
			id, b := string(w.id)+"."+item.ID, item.Latest.(messages.InputReceived)
			all = append(all, w.says("ROLE_AGENT", id+".question", asking(item.Asked())...), w.says("ROLE_USER", id+".answer", part{Text: messages.Plain(b.Value)}))
		}
	}
	if w.length != nil {
		all = all[max(len(all)-max(*w.length, 0), 0):]
	}
	return all
}

// piece writes a piece of text. Most frames are of this kind, so it avoids encoding all of the frame.
func (w *writer) piece(piece, mediaType string, anew bool) {
	switch {
	case w.Wire == nil:
	case anew:
		w.artifact(answer(piece, mediaType))
	default:
		if w.before == nil || mediaType != w.mediaType {
			w.before, w.after, _ = bytes.Cut(w.frame(answer("\x00", mediaType), true), door.JSON("\x00"))
			w.mediaType = mediaType
		}
		w.Emit(slices.Concat(w.before, door.JSON(piece), w.after))
	}
}

// answer returns the artifact for what the run says.
func answer(text, mediaType string) artifact {
	return artifact{"answer", "answer", []part{{Text: text, MediaType: mediaType}}, nil}
}
