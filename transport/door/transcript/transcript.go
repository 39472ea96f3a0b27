package transcript

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Transcript folds the log of one run into items. It does not check the log: the runtime has done so. The zero
// Transcript belongs to a run that has not begun. It is not safe for concurrent use.
type Transcript struct {
	// Seq is the number of the newest event.
	Seq uint64
	// Segment is the number of the current segment, from 1.
	Segment int
	// Queued is the run's first event. Ended is the body of its terminal event, nil before that.
	Queued messages.RunQueued
	Ended  messages.Body
	// Lean lets a text go once the log drops it. It is for readers that need no text as a whole.
	Lean bool

	items  []*Item
	index  map[key]*Item
	reason string // the finish_reason of the newest answer of a model

	// op and do are the current operation and its receiver. They are set only during Apply.
	op Op
	do func(*Op)
}

// key identifies an item of a run. Names are unique only within a kind.
type key struct {
	kind Kind
	name string
}

// Apply adds the event, and calls do with each operation in order. It ignores events that it has already.
func (t *Transcript) Apply(e messages.Event, do func(*Op)) {
	if e.Seq <= t.Seq {
		return
	}
	if t.index == nil {
		t.index, t.Segment = map[key]*Item{}, 1
	}
	t.Seq, t.do = e.Seq, do
	t.op = Op{Event: e, Run: t}
	if m, ok := e.Body.(messages.Merged); ok {
		t.op.Parts = m.Parts
		for _, part := range m.Parts {
			t.op.Event.Body = part
			t.apply(part)
		}
	} else {
		t.apply(e.Body)
	}
	t.op, t.do = Op{}, nil
}

// apply turns one body, or one part of a merged event, into operations on items.
func (t *Transcript) apply(body messages.Body) {
	switch b := body.(type) {
	case messages.TextDelta:
		t.append(Text, b)
	case messages.ThoughtDelta:
		t.append(Thought, messages.TextDelta(b))
	case messages.TextDone:
		t.finish(Text, messages.TextDelta{Stream: b.Stream, Task: b.Task, Text: b.Text, MediaType: b.MediaType})
	case messages.ThoughtDone:
		t.finish(Thought, messages.TextDelta{Stream: b.Stream, Task: b.Task, Text: b.Text})
	case messages.Progress:
		t.change(Progress, b.Task, b.Task)
	case messages.Notice:
		t.open(Notice, string(b.Code), b.Task).Closed = true
	case messages.ToolStarted:
		t.open(Tool, b.Call, b.Task)
	case messages.ToolProgress:
		t.change(Tool, b.Call, "")
	case messages.ToolCompleted:
		t.close(Tool, b.Call)
	case messages.ArtifactPartial:
		t.change(Artifact, b.Name, b.Task)
	case messages.ArtifactWritten:
		t.written(b)
	case messages.InputRequired:
		question := t.open(Question, b.Request, b.Task)
		t.emit(Wait, question)
		t.Segment++
	case messages.InputReceived:
		t.close(Question, b.Request)
		t.emit(Go, t.Find(Question, b.Request))
	case messages.ChildStarted:
		t.open(Child, string(b.Child), b.Task)
	case messages.ChildEnded:
		t.close(Child, string(b.Child))
	case messages.StepStarted:
		t.open(Step, b.Step, b.Task)
	case messages.StepEnded:
		if b.Outcome == messages.StepSkipped {
			t.open(Step, b.Step, b.Task)
		}
		t.close(Step, b.Step)
	default:
		t.run(body)
	}
}

// run applies bodies that concern the run or a task.
func (t *Transcript) run(body messages.Body) {
	switch b := body.(type) {
	case messages.RunQueued:
		t.Queued = b
		t.open(Run, string(t.op.Event.RunID), "")
		return
	case messages.LLMCompleted:
		if messages.IsAnswerCall(b.Call) {
			t.reason = b.FinishReason
		}
	case messages.RunRecovered:
		t.rewind(b.Rewind)
	case messages.TaskCompleted:
		t.over(b.Task, false)
	case messages.TextClosed:
		if item := t.Find(Text, b.Stream); item != nil && b.Dropped && t.Lean {
			item.text, item.dropped = nil, b.Bytes
		}
	case messages.TaskRestarted:
		t.restart(b.Task)
	case messages.RunCompleted:
		t.end(b, b.Artifacts, b.ArtifactCount > 0, nil)
		return
	case messages.RunFailed:
		t.end(b, b.Artifacts, b.ArtifactCount > 0, b.Rewind)
		return
	case messages.RunCanceled:
		t.end(b, b.Artifacts, b.ArtifactCount > 0, b.Rewind)
		return
	}
	t.change(Run, string(t.op.Event.RunID), "")
}

// emit passes an operation to the receiver. It does nothing for a nil item.
func (t *Transcript) emit(do Do, item *Item) {
	if item == nil {
		return
	}
	t.op.Do, t.op.Item, t.op.ID = do, item, item.ID
	t.do(&t.op)
	t.op.Offset, t.op.Text, t.op.Cut, t.op.Gone = 0, "", false, false
}

// open begins an item of the event's body.
func (t *Transcript) open(kind Kind, name, task string) *Item {
	return t.begin(&Item{Kind: kind, Name: name, Task: task, Opened: t.op.Event.Body, Latest: t.op.Event.Body})
}

// begin begins an item. A name that was used before gets an ID with a number.
func (t *Transcript) begin(item *Item) *Item {
	item.ID, item.Segment = item.Name, t.Segment
	if t.Find(item.Kind, item.Name) != nil {
		n := 1
		for _, other := range t.items {
			if other.Kind == item.Kind && other.Name == item.Name {
				n++
			}
		}
		item.ID += "#" + strconv.Itoa(n)
	}
	if item.IsAnswer() {
		t.over(item.Task, true)
	}
	t.items, t.index[key{item.Kind, item.Name}] = append(t.items, item), item
	t.emit(Open, item)
	return item
}

// over marks the texts of a task, or only its answers, as complete in practice: nothing more is expected to come.
func (t *Transcript) over(task string, answers bool) {
	for _, item := range t.items {
		item.over = item.over || item.Task == task && item.Kind == Text && (!answers || item.IsAnswer())
	}
}

// change updates an item, or begins it if it does not exist.
func (t *Transcript) change(kind Kind, name, task string) {
	item := t.Find(kind, name)
	if item == nil {
		t.open(kind, name, task)
		return
	}
	item.Latest = t.op.Event.Body
	t.emit(Update, item)
}

// close marks an item as done.
func (t *Transcript) close(kind Kind, name string) {
	if item := t.Find(kind, name); item != nil && !item.Closed {
		item.Latest, item.Closed = t.op.Event.Body, true
		t.emit(Done, item)
	}
}

// text returns the text or thought, and begins it if it does not exist.
func (t *Transcript) text(kind Kind, d messages.TextDelta) *Item {
	if item := t.Find(kind, d.Stream); item != nil {
		item.MediaType = cmp.Or(d.MediaType, item.MediaType)
		return item
	}
	plain := messages.TextPlain
	if messages.IsAnswer(d.Stream) {
		plain = messages.TextMarkdown
	}
	return t.begin(&Item{Kind: kind, Name: d.Stream, Task: d.Task, MediaType: cmp.Or(d.MediaType, plain)})
}

// append adds the new part of a delta. A delta that was merged for another reader may repeat what this one has. If it
// begins beyond the text, the log has dropped all before it.
func (t *Transcript) append(kind Kind, d messages.TextDelta) {
	item := t.text(kind, d)
	if d.Begin() > item.Len() {
		item.text, item.dropped = nil, d.Begin()
	}
	if known := item.Len() - d.Begin(); known < len(d.Text) {
		t.add(item, d.Text[known:])
	}
}

// add appends text to an item.
func (t *Transcript) add(item *Item, text string) {
	t.op.Offset, t.op.Text = item.Len(), text
	item.text = append(item.text, text...)
	t.emit(Append, item)
}

// finish changes the text to what its done event says, and closes it.
func (t *Transcript) finish(kind Kind, done messages.TextDelta) {
	item, text := t.text(kind, done), done.Text
	same := 0
	if item.dropped == 0 {
		same = words.Common(item.text, text)
	}
	if same < item.Len() {
		t.retract(item, same, false)
	}
	if same < len(text) {
		t.add(item, text[same:])
	}
	item.Latest, item.Closed, item.Cut = t.op.Event.Body, true, false
	t.emit(Done, item)
}

// retract takes text back from offset keep on; with gone it removes the item.
func (t *Transcript) retract(item *Item, keep int, gone bool) {
	if gone {
		t.items = slices.DeleteFunc(slices.Clone(t.items), func(other *Item) bool { return other == item })
		delete(t.index, key{item.Kind, item.Name})
	}
	kept := item.text[:max(keep-item.dropped, 0)]
	t.op.Offset, t.op.Text, t.op.Gone = keep, string(item.text[len(kept):]), gone
	item.text, item.dropped = kept, min(item.dropped, keep)
	item.Closed, item.over, item.Cut, item.Latest = false, false, false, item.Opened
	t.emit(Retract, item)
}

// restart begins another attempt of the task: its texts start again, its files and its progress are removed. Calls of
// the attempt before get no result.
func (t *Transcript) restart(task string) {
	for _, item := range slices.Clone(t.items) {
		switch {
		case item.Task != task:
		case item.Kind == Text || item.Kind == Thought:
			if item.Len() > 0 || item.Closed {
				t.retract(item, 0, false)
			}
		case item.Kind == Artifact || item.Kind == Progress:
			t.retract(item, 0, true)
		case item.Kind == Tool && !item.Closed:
			t.cut(item)
		}
	}
}

// rewind goes back to what the journal held when the run's process died. r is nil if nothing was lost.
func (t *Transcript) rewind(r *messages.Rewind) {
	if r == nil {
		return
	}
	said := t.op.Event.Body
	var open []string
	for _, item := range t.items {
		if (item.Kind == Text || item.Kind == Thought) && !item.Closed && item == t.Find(item.Kind, item.Name) {
			open = append(open, item.Name)
		}
	}
	marks := r.Marks(open)
	for _, item := range slices.Clone(t.items) {
		switch item.Kind {
		case Text, Thought:
			t.rewindText(item, marks)
		case Progress:
			t.rewindProgress(item, r)
		case Tool:
			t.rewindTool(item, r)
		}
		t.op.Event.Body = said
	}
}

// rewindText takes back what a text had beyond its mark.
func (t *Transcript) rewindText(item *Item, marks map[string]messages.StreamMark) {
	m, kept := marks[item.Name]
	switch {
	case item.Closed:
	case !kept:
		t.retract(item, 0, true)
	case m.Bytes < item.Len():
		t.retract(item, m.Bytes, false)
	}
}

// rewindProgress restores the progress of a task.
func (t *Transcript) rewindProgress(item *Item, r *messages.Rewind) {
	i := slices.IndexFunc(r.Progress, func(p messages.Progress) bool { return p.Task == item.Name })
	switch {
	case i < 0:
		t.retract(item, 0, true)
	case item.Latest != r.Progress[i]:
		t.op.Event.Body = r.Progress[i]
		t.change(Progress, item.Name, item.Task)
	}
}

// rewindTool restores the progress of a call.
func (t *Transcript) rewindTool(item *Item, r *messages.Rewind) {
	had, ok := item.Latest.(messages.ToolProgress)
	if !ok || item.Closed {
		return
	}
	now := messages.ToolProgress{Call: item.Name}
	if i := slices.IndexFunc(r.Tools, func(p messages.ToolProgress) bool { return p.Call == item.Name }); i >= 0 {
		now = r.Tools[i]
	}
	if now != had {
		t.op.Event.Body = now
		t.change(Tool, item.Name, item.Task)
	}
}

// written adds a file under its final name. A cancelled run may have written a part of it before.
func (t *Transcript) written(b messages.ArtifactWritten) {
	t.change(Artifact, b.Name, b.Task)
	if item := t.Find(Artifact, b.Name); !item.Closed {
		item.Closed = true
		t.emit(Done, item)
	}
}

// cut marks an open item as done without its own event.
func (t *Transcript) cut(item *Item) {
	item.Closed, item.Cut = true, true
	t.op.Cut = true
	t.emit(Done, item)
}

// end closes the open items and ends the run. The terminal's list of files wins over the events, unless written says
// that it lists the files of the events.
func (t *Transcript) end(terminal messages.Body, files []messages.Artifact, written bool, r *messages.Rewind) {
	t.rewind(r)
	for _, item := range slices.Clone(t.items) {
		named := func(a messages.Artifact) bool { return a.Name == item.Name }
		if item.Kind == Artifact && !written && !slices.ContainsFunc(files, named) {
			t.retract(item, 0, true)
		}
	}
	for _, a := range files {
		if item := t.Find(Artifact, a.Name); item == nil || FileOf(item) != a {
			t.op.Event.Body = messages.ArtifactWritten{Artifact: a}
			t.written(t.op.Event.Body.(messages.ArtifactWritten))
		}
	}
	t.op.Event.Body, t.Ended = terminal, terminal
	for _, item := range t.items {
		if item.Kind != Run && !item.Closed {
			t.cut(item)
		}
	}
	run := t.Find(Run, string(t.op.Event.RunID))
	run.Latest, run.Closed = terminal, true
	t.emit(End, run)
}

// Ending returns how the run ended. Before that its Reason is the newest answer's.
func (t *Transcript) Ending() model.Ending {
	var end *messages.End
	switch b := t.Ended.(type) {
	case messages.RunCompleted:
		end = &messages.End{Result: b.Result}
	case messages.RunFailed:
		end = &messages.End{Cause: b.Cause, Error: b.Error}
	case messages.RunCanceled:
		end = &messages.End{Cause: b.Cause}
	}
	text := ""
	if answers := t.Answers(); len(answers) > 0 {
		text = answers[len(answers)-1].Text()
	}
	return model.Ended(end, t.reason, text, slices.ContainsFunc(t.items, func(i *Item) bool { return i.Kind == Thought }))
}

// FileOf returns the file of an artifact item, as of its newest event.
func FileOf(item *Item) messages.Artifact {
	switch b := item.Latest.(type) {
	case messages.ArtifactPartial:
		return b.Artifact
	case messages.ArtifactWritten:
		return b.Artifact
	default:
		return messages.Artifact{}
	}
}
