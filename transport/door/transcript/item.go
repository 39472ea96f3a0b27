package transcript

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// Kind is the kind of an item.
type Kind uint8

// The kinds of items. Run is the run itself; events that concern no other item are updates of it.
const (
	Run Kind = iota
	Text
	Thought
	Tool
	Artifact
	Question
	Child
	Step
	Progress
	Notice
	kinds
)

// kindNames are the names of the kinds, in their order.
var kindNames = [kinds]string{"run", "text", "thought", "tool", "artifact", "question", "child", "step", "progress", "notice"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Item is something that clients show. Only its Transcript may change it.
type Item struct {
	Kind Kind
	// ID is unique among the items of its kind. Name is the name of the stream, call, file, request,
	// run, step or task in the log. If several items have the same name, the IDs of later ones end with "#2", "#3" and so on.
	ID, Name string
	// Task is the task that the item belongs to; "" is the run itself.
	Task string
	// MediaType is the media type of a text; a text without one is Markdown if it is an answer, and plain otherwise.
	MediaType string
	// Segment is the number of the segment in which the item began, from 1.
	Segment int
	// Opened is the event body that began the item, nil for a text or a thought. Latest is the newest body that changed
	// it.
	Opened, Latest messages.Body
	// Closed says that the item is complete. Cut says that the end of its task or run
	// closed it, and no separate event.
	Closed, Cut bool

	text    []byte
	dropped int  // number of bytes before text that the log has dropped
	over    bool // its task has ended, or has begun another answer
}

// Over reports whether a text will not grow any more: it is done, its task has ended, or its task has begun another
// answer.
func (i *Item) Over() bool { return i.Closed || i.over }

// Text returns the content of a text or a thought so far, without what the log has dropped.
func (i *Item) Text() string { return string(i.text) }

// Len returns the length of the text in bytes, with what the log has dropped.
func (i *Item) Len() int { return i.dropped + len(i.text) }

// IsAnswer reports whether the item is a text for people, see [messages.IsAnswer].
func (i *Item) IsAnswer() bool { return i.Kind == Text && messages.IsAnswer(i.Name) }

// Call returns the tool of a call and its arguments, a JSON object.
func (i *Item) Call() (tool string, arguments json.RawMessage) {
	b := i.Opened.(messages.ToolStarted)
	if len(b.Arguments) == 0 {
		b.Arguments = json.RawMessage("{}")
	}
	return b.Tool, b.Arguments
}

// Result returns the result of a call that is done. failed is the error message of a call without a result.
func (i *Item) Result() (result json.RawMessage, failed string) {
	b, _ := i.Latest.(messages.ToolCompleted)
	switch {
	case i.Cut:
		return nil, "the call has no result"
	case b.Error != nil:
		return nil, cmp.Or(b.Error.Message, string(b.Error.Code))
	}
	return b.Result, ""
}

// Asked returns the event that asked the question.
func (i *Item) Asked() messages.InputRequired { return i.Opened.(messages.InputRequired) }

// Do is an operation on an item.
type Do uint8

// The operations.
const (
	// Open begins the item.
	Open Do = iota
	// Append adds Op.Text to the item's text, at Op.Offset.
	Append
	// Done marks the item as complete.
	Done
	// Update changes the item. On Run, it is any event that concerns no other item.
	Update
	// Retract takes Op.Text back: the first Op.Offset bytes remain. The item may be opened or done again. With Op.Gone
	// the item does not exist any more.
	Retract
	// Wait says that the run waits for the answer to a question. It ends the segment.
	Wait
	// Go says that the question is answered.
	Go
	// End says that the run has ended. The event's body says how.
	End
	actions
)

// doNames are the names of the operations, in their order.
var doNames = [actions]string{"open", "append", "done", "update", "retract", "wait", "go", "end"}

// String returns the operation's name.
func (d Do) String() string { return doNames[d] }

// Op is one operation. It is valid only until the function that gets it returns.
type Op struct {
	Do   Do
	Item *Item
	// Event is the event that caused the operation. For a merged event, Body is the part, and Parts holds all parts.
	Event messages.Event
	Parts []messages.Body
	// ID is the item's ID for the reader. It differs from Item.ID after the policy Supersede has given the item a new
	// one.
	ID string
	// Offset, in bytes, and Text belong to Append and Retract.
	Offset int
	Text   string
	// Cut says that an item was marked as done without its own event. Gone says that a retracted item does not
	// exist any more.
	Cut, Gone bool
	// Run is the transcript after the operation.
	Run *Transcript
}

// Seq returns the number of the operation's event.
func (o *Op) Seq() uint64 { return o.Event.Seq }

// Items returns the items in the order in which they began. The caller must not change the slice.
func (t *Transcript) Items() []*Item { return t.items }

// Find returns the newest item with the name, or nil.
func (t *Transcript) Find(kind Kind, name string) *Item { return t.index[key{kind, name}] }

// Answers returns the texts for people that are not empty.
func (t *Transcript) Answers() []*Item {
	return slices.DeleteFunc(slices.Clone(t.items), func(i *Item) bool { return !i.IsAnswer() || i.Len() == 0 })
}
