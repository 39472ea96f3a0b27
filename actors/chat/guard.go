package chat

import (
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// mostNamed bounds the tools that the warning about withheld tools names.
const mostNamed = 3

// guard withholds tools that reach the network once a call has brought text of strangers into the conversation: that
// text could make the model send away what it knows.
func (u *turn) guard(calls []model.ToolCall, results []tool.Result) error {
	for i, c := range calls {
		if u.tainted || !results[i].Ran || !u.Tools.Tool(c.Name).Outside {
			continue
		}
		if u.memory != nil {
			if err := u.memory.Taint(); err != nil {
				return err
			}
		}
		return u.warn(u.taint())
	}
	return nil
}

// taint notes that the conversation has text of strangers. It withholds tools, and returns their names.
func (u *turn) taint() (withheld []string) {
	u.tainted = true
	u.Tools, withheld = u.Tools.Safe()
	return withheld
}

func (u *turn) warn(withheld []string) error {
	names := strings.Join(withheld[:min(len(withheld), mostNamed)], ", ")
	switch more := len(withheld) - mostNamed; {
	case len(withheld) == 0:
		return nil
	case more > 0:
		names += fmt.Sprintf(" and %d more", more)
	}
	return u.task.Log(messages.LogWarn, "the conversation has text of strangers now, so the model may no longer call tools "+
		"that reach the network; to allow them, name them: "+names)
}
