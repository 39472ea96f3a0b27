package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// remember starts the turn with the earlier messages of its conversation.
func (u *turn) remember(ctx context.Context, in Input) (err error) {
	system := in.System
	u.conversation = slices.Clone(in.Earlier)
	if in.Message != "" {
		u.conversation = append(u.conversation, model.Message{Role: model.User, Content: in.Message})
	}
	if in.Context != "" {
		if err = u.enter(ctx, in); err != nil {
			return err
		}
		system, u.conversation = u.memory.System(), u.memory.History()
	}
	system = strings.TrimSpace(system + u.missing)
	u.conversation = append([]model.Message{{Role: model.System, Content: system}}, u.conversation...)
	if len(in.Earlier) > 0 && in.Earlier[0].Role == model.Assistant {
		return u.cut("what the assistant said before the user's first message is left out")
	}
	return nil
}

// announce tells people once what the conversation's turn goes without.
func (u *turn) announce() (err error) {
	if u.announced {
		return nil
	}
	u.announced = true
	covered, damaged := u.memory.Lacks()
	if covered > 0 {
		err = u.cut("a summary of an earlier turn stands for the oldest messages: %d", covered)
	}
	if damaged > 0 && err == nil {
		err = u.cut("lines of the conversation that cannot be read are left out: %d", damaged)
	}
	if u.memory.Tainted() && !u.tainted && err == nil {
		err = u.taint()
	}
	return err
}

// cut tells people that the model does not see all that was said.
func (u *turn) cut(format string, args ...any) error {
	return u.task.Notice(messages.NoticeHistoryCut, fmt.Sprintf(format, args...))
}

// OpenConversations returns what keeps conversations in a folder, for [Config.Conversations]. It makes the folder if
// needed, and begins no more than most conversations, unless most is 0.
func OpenConversations(dir string, most int) (*conversation.Store, error) {
	return conversation.Open(dir, most)
}

// forAnswers is how long people may take to answer while their turn holds the conversation.
const forAnswers = 25 * time.Hour

// enter begins the turn in its conversation. It cancels an earlier turn that waits for people, because the new
// message is their answer.
func (u *turn) enter(ctx context.Context, in Input) (err error) {
	b := conversation.Beginning{Owner: string(u.task.RunID()), Message: in.Message, System: in.System, Folder: u.Folder,
		Timeout: u.Bounds.Time + forAnswers}
	conversations, err := u.Conversations(u.task.Principal())
	if err != nil {
		return err
	}
	u.context = in.Context
	for {
		u.memory, err = conversations.Begin(in.Context, b)
		busy, ok := errors.AsType[*conversation.BusyError](err)
		if !ok || b.Over == busy.Owner {
			return err
		}
		over, failed := u.task.Supersede(ctx, messages.RunID(busy.Owner), "another message came")
		if !over && failed == nil { // another node started it, so this run was not queued behind it
			over, failed = u.task.Outlast(ctx, messages.RunID(busy.Owner))
		}
		if !over {
			return cmp.Or(failed, err)
		}
		b.Over = busy.Owner
	}
}

// appendMessages adds the messages that are not empty to the conversation.
func (u *turn) appendMessages(msgs ...model.Message) error {
	msgs = stable.DeleteFunc(msgs, func(m model.Message) bool {
		return m.Role == model.Assistant && strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0
	})
	if len(msgs) == 0 {
		return nil
	}
	u.conversation = append(u.conversation, msgs...)
	if u.memory == nil || u.aside {
		return nil
	}
	return u.memory.Say(msgs...)
}

// withConversation does the work. It ends the turn in its conversation after the last work, and after work that fails or
// crashes.
func (u *turn) withConversation(last bool, work func() error) error {
	if u.memory == nil {
		return work()
	}
	cause := messages.CausePanic
	defer func() {
		if cause != "" {
			_ = u.memory.End(cause) // the turn fails with the cause
		}
	}()
	err := u.announce()
	if err == nil {
		err = work()
	}
	if err != nil {
		cause = cmp.Or(messages.CodeOf(err), messages.CauseError)
		return err
	}
	if cause = ""; last {
		return u.memory.End(cause)
	}
	return nil
}
