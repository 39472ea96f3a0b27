package transcript

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Kind is what an item is.
type Kind uint8

// The kinds of items. Run is the run itself: whatever concerns no other item is an update of it.
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
	kinds
)

var kindNames = [kinds]string{"run", "text", "thought", "tool", "artifact", "question", "child", "step", "progress"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Item is something that readers show. Nobody but its Transcript may change it.
type Item struct {
	Kind Kind
	// ID is unique among the items of its kind. Name is what the log calls it: a stream, call, file, request, run,
	// step or task. A second item of the same name has an ID that ends with "#2".
	ID, Name string
	// Task owns the item; "" is the run itself.
	Task string
	// Segment is the segment in which the item began, from 1.
	Segment int
	// Opened is the body that began it; nil for a text or a thought. Latest is the newest body that changed it.
	Opened, Latest messages.Body
	// Closed says that nothing more comes, and Cut that no event of its own said so.
	Closed, Cut bool

	text []byte
	over bool // its task has ended, or has begun another answer
}

// Over reports whether nobody expects a text to grow: it is done, its task has ended, or has begun another answer.
func (i *Item) Over() bool { return i.Closed || i.over }

// Text returns what a text or a thought holds so far.
func (i *Item) Text() string { return string(i.text) }

// Len returns the length of the text in bytes.
func (i *Item) Len() int { return len(i.text) }

// IsAnswer reports whether the item is a text for people: the jobs call it "answer", or answer.1 and so on.
func (i *Item) IsAnswer() bool {
	number, numbered := strings.CutPrefix(i.Name, "answer.")
	return i.Kind == Text && (i.Name == "answer" || numbered && number != "" && strings.Trim(number, "0123456789") == "")
}

// Call returns the tool of a call and its arguments, which are an object.
func (i *Item) Call() (tool string, arguments json.RawMessage) {
	b := i.Opened.(messages.ToolStarted)
	if len(b.Arguments) == 0 {
		b.Arguments = json.RawMessage("{}")
	}
	return b.Tool, b.Arguments
}

// Result returns what a call that is done gave, or why it gave nothing.
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

// Asked returns what a question asks.
func (i *Item) Asked() messages.InputRequired { return i.Opened.(messages.InputRequired) }

// Do is what happens to an item.
type Do uint8

// The operations.
const (
	// Open begins the item.
	Open Do = iota
	// Append adds Op.Text to the item's text, at Op.Offset.
	Append
	// Done says that nothing more comes.
	Done
	// Update changes the item, or says something of the run.
	Update
	// Retract takes Op.Text back, so that Op.Offset bytes remain. The item may be opened or done again. With Op.Gone
	// there is no such item any more.
	Retract
	// Wait says that the run waits for the answer to a question; it ends the segment.
	Wait
	// Go says that the answer is there.
	Go
	// End says that the run has ended, as its event's body says.
	End
	actions
)

var doNames = [actions]string{"open", "append", "done", "update", "retract", "wait", "go", "end"}

// String returns the operation's name.
func (d Do) String() string { return doNames[d] }

// Op is one operation. It is valid only during the call that gets it.
type Op struct {
	Do   Do
	Item *Item
	// Event is the event that says so; of a merged event, Body is the part. Parts are all parts of a merged event.
	Event messages.Event
	Parts []messages.Body
	// ID is the item's ID for the reader. It differs from Item.ID after the policy Supersede gave the item another.
	ID string
	// Offset and Text belong to Append and Retract.
	Offset int
	Text   string
	// Cut says that an item is done without an event of its own. Gone says that a retracted item does not exist any
	// more.
	Cut, Gone bool
	// Run is the transcript as it is after the operation.
	Run *Transcript
}

// Seq is the number of the operation's event.
func (o *Op) Seq() uint64 { return o.Event.Seq }

// Items returns the items in the order of their beginning. The caller must not change the list.
func (t *Transcript) Items() []*Item { return t.items }

// Find returns the newest item of the name, or nil.
func (t *Transcript) Find(kind Kind, name string) *Item { return t.index[key{kind, name}] }

// Answers returns the texts for people that say something.
func (t *Transcript) Answers() []*Item {
	return slices.DeleteFunc(slices.Clone(t.items), func(i *Item) bool { return !i.IsAnswer() || i.Len() == 0 })
}
