package chat

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/chat/conversation"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// remember begins the turn with what was said in its conversation before.
func (u *turn) remember(in Input) (err error) {
	system := in.System
	u.conversation = append(slices.Clone(in.Earlier), model.Message{Role: model.User, Content: in.Message})
	if in.Context != "" {
		u.memory, err = u.Conversations.Begin(in.Context, conversation.Beginning{Owner: string(u.task.RunID()),
			Message: in.Message, System: in.System, Timeout: u.Bounds.Time + time.Minute})
		if err != nil {
			return err
		}
		system, u.conversation = u.memory.System(), u.memory.History()
	}
	u.conversation = append([]model.Message{{Role: model.System, Content: system}}, u.conversation...)
	if u.memory != nil && u.memory.Tainted() {
		return u.taint()
	}
	return nil
}

// say adds to the conversation what is not empty.
func (u *turn) say(said ...model.Message) error {
	said = slices.DeleteFunc(said, func(m model.Message) bool {
		return m.Role == model.Assistant && strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0
	})
	if len(said) == 0 {
		return nil
	}
	u.conversation = append(u.conversation, said...)
	if u.memory == nil || u.aside {
		return nil
	}
	return u.memory.Say(said...)
}

// remembered does the work. It ends the turn in its conversation after the last work, and after one that fails or
// crashes.
func (u *turn) remembered(last bool, work func() error) error {
	if u.memory == nil {
		return work()
	}
	cause := messages.Code(messages.CausePanic)
	defer func() {
		if cause != "" {
			_ = u.memory.End(cause) // the turn fails for the cause
		}
	}()
	err := work()
	if err != nil {
		cause = cmp.Or(messages.CodeOf(err), messages.Code(messages.CauseError))
		return err
	}
	if cause = ""; last {
		return u.memory.End(cause)
	}
	return nil
}
