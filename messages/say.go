package messages

import (
	"slices"
	"strings"
)

// SayMode says when a run sees a message.
type SayMode string

// A steer is seen at the next call of the model. An interrupt ends the model's answer first, and cancels questions.
const (
	Steer     SayMode = "steer"
	Interrupt SayMode = "interrupt"
)

// Limits of messages to a run: bytes of one, and how many may be open.
const (
	MessageBytes = 32 << 10
	MostMessages = 16
)

// SeenStep begins the name of the kept step by which a program notes that it has seen a message, whose name follows.
const SeenStep = "seen "

// Said is what somebody says to a run that works.
type Said struct {
	// Message is the name of the message, unique in its run.
	Message string `json:"message"`
	// Mode says when the run sees it.
	Mode SayMode `json:"mode"`
	// Content is what was said.
	Content string `json:"content" text:"any"`
	// Principal is who said it, and Door is how it came.
	Principal string `json:"principal,omitempty"`
	Door      string `json:"door,omitempty"`
	// Agent says that an agent or a program said it, and not a person.
	Agent bool `json:"agent,omitempty"`
}

// Message is a message to a run, and what became of it. It is open until it has At or Dropped.
type Message struct {
	Said
	// Seq is the number of its message.queued.
	Seq uint64 `json:"seq"`
	// Position is its place, from 1, among the messages that were open when it came.
	Position int `json:"position"`
	// Task took it, before the call that At names.
	Task string `json:"task,omitempty"`
	At   string `json:"at,omitempty"`
	// Seen says that a model's server has accepted a request with it.
	Seen bool `json:"seen,omitempty"`
	// Dropped is why the run did not take it.
	Dropped DropReason `json:"dropped,omitempty"`
}

// IsOpen reports whether the message is neither delivered nor dropped.
func (m Message) IsOpen() bool { return m.At == "" && m.Dropped == "" }

// DropReason says why a run did not take a message.
type DropReason string

// The reasons: its sender took it back, the run ended, the run was canceled.
const (
	DropRevoked  DropReason = "revoked"
	DropEnded    DropReason = "run_ended"
	DropCanceled DropReason = "canceled"
)

// Check returns why nobody may say it, or nil.
func (s Said) Check() error {
	switch {
	case s.Message == "" || len(s.Message) > 128:
		return InvalidInput("the id of a message has 1 to 128 bytes, not %d", len(s.Message))
	case s.Mode != Steer && s.Mode != Interrupt:
		return InvalidInput("the mode of a message is %s or %s, not %.32q", Steer, Interrupt, s.Mode)
	case strings.TrimSpace(s.Content) == "":
		return InvalidInput("the message is empty; give a text")
	case len(s.Content) > MessageBytes:
		return LimitExceeded("a message has %d bytes at most, not %d; shorten it", MessageBytes, len(s.Content))
	}
	return nil
}

// MessageQueued says that the run has a message. Exactly one MessageDelivered or MessageDropped follows.
type MessageQueued struct{ Said }

func (MessageQueued) info() *KindInfo { return messageQueued }

var messageQueued = row(MessageQueued{}, KindMessageQueued, "messages", "Somebody said something to the run.", traits{
	begins: true,
	legal: with(func(b MessageQueued, f *Fold) *Refusal {
		if err := b.Check(); err != nil {
			return violates(RuleBody, "%v", err)
		}
		return when(f.message(b.Message) >= 0 || f.OpenMessages() >= MostMessages, ruleMessage,
			"message %q repeats a name, or there are %d already", b.Message, MostMessages)
	}),
	apply: to(func(b MessageQueued, f *Fold) {
		f.messages.put(&f.s.Messages, -1, Message{Said: b.Said, Seq: f.s.Seq, Position: f.OpenMessages() + 1})
		f.openMessages++
	}),
})

// MessageDelivered says that from the call that At names on the message is part of the conversation: in every request
// of this run, and in the next turns.
type MessageDelivered struct {
	// Message is the name of the message.
	Message string `json:"message"`
	// Task took it.
	Task string `json:"task,omitempty"`
	// At is the name of the call of a model, without its attempt, such as answer.2. A job without models gives its own.
	At string `json:"at"`
}

func (MessageDelivered) info() *KindInfo { return messageDelivered }

var messageDelivered = row(MessageDelivered{}, KindMessageDelivered, "messages", "The message is part of the conversation from the named call on.", traits{
	begins: true,
	legal: with(func(b MessageDelivered, f *Fold) *Refusal {
		first := slices.IndexFunc(f.s.Messages, Message.live)
		if b.At == "" || first < 0 || f.s.Messages[first].Message != b.Message {
			return violates(ruleMessage, "message %q is not the oldest open one, or its call has no name", b.Message)
		}
		return f.legalSpeaker(b.Task)
	}),
	apply: to(func(b MessageDelivered, f *Fold) {
		f.closeMessage(b.Message, func(m *Message) { m.Task, m.At = b.Task, b.At })
	}),
})

// MessageDropped says that the run will not see the message.
type MessageDropped struct {
	// Message is the name of the message.
	Message string `json:"message"`
	// Reason is why.
	Reason DropReason `json:"reason"`
}

func (MessageDropped) info() *KindInfo { return messageDropped }

var messageDropped = row(MessageDropped{}, KindMessageDropped, "messages", "The run will not see the message.", traits{
	legal: with(func(b MessageDropped, f *Fold) *Refusal {
		m, known := pick(f.s.Messages, f.message(b.Message))
		if !known || !m.live() {
			return violates(ruleMessage, "message %q is not open", b.Message)
		}
		known = slices.Contains([]DropReason{DropRevoked, DropEnded, DropCanceled}, b.Reason)
		return when(!known, RuleBody, "a message is not dropped for the reason %q", b.Reason)
	}),
	apply: to(func(b MessageDropped, f *Fold) {
		f.closeMessage(b.Message, func(m *Message) { m.Dropped = b.Reason })
	}),
})

// closeMessage gives an open message its end.
func (f *Fold) closeMessage(name string, end func(*Message)) {
	i := f.message(name)
	m := f.s.Messages[i]
	end(&m)
	f.messages.put(&f.s.Messages, i, m)
	f.openMessages--
}

// legalSeen checks that an ended call names only messages that were delivered.
func (f *Fold) legalSeen(seen []string) *Refusal {
	for _, name := range seen {
		if m, _ := pick(f.s.Messages, f.message(name)); m.At == "" {
			return violates(ruleMessage, "message %q was not delivered, so nobody has seen it", name)
		}
	}
	return nil
}

// seen notes which messages a model's server has accepted.
func (f *Fold) seen(names []string) {
	for _, name := range names {
		i := f.message(name)
		m := f.s.Messages[i]
		m.Seen = true
		f.messages.put(&f.s.Messages, i, m)
	}
}

// OpenMessages returns how many messages are neither delivered nor dropped.
func (f *Fold) OpenMessages() int {
	if f.single {
		return len(open(f.s.Messages))
	}
	return int(f.openMessages)
}

// Message returns the message, or false if there is none.
func (f *Fold) Message(name string) (Message, bool) { return pick(f.s.Messages, f.message(name)) }

func (f *Fold) message(name string) int { return f.messages.find(f.s.Messages, name, f.single) }

func (m Message) key() string { return m.Said.Message }
func (m Message) live() bool  { return m.IsOpen() }
