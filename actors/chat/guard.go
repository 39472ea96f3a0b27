package chat

import (
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// guard withholds the tools that reach the network once a call has brought text of strangers into the conversation:
// they could make the model send away what it knows.
func (u *turn) guard(calls []model.ToolCall) error {
	for _, c := range calls {
		if u.Tools.Tool(c.Name).Outside {
			return u.taint()
		}
	}
	return nil
}

// taint says that the conversation has text of strangers.
func (u *turn) taint() error {
	if u.tainted {
		return nil
	}
	u.tainted = true
	if u.memory != nil {
		if err := u.memory.Taint(); err != nil {
			return err
		}
	}
	safe, withheld := u.Tools.Safe()
	u.Tools = safe
	if len(withheld) == 0 {
		return nil
	}
	return u.task.Log(messages.LogWarn, "the conversation has text of strangers now, so the model may no longer call tools "+
		"that reach the network; to allow them, name them: "+strings.Join(withheld, ", "))
}
