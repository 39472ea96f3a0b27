package model

import (
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// CheckEarlier returns an invalid_input error unless all messages are texts of the user or the assistant. With tools,
// calls of the assistant and their results are allowed too.
func CheckEarlier(earlier []Message, tools bool) error {
	for i, m := range earlier {
		said := (m.Role == User || m.Role == Assistant || m.Role == System && m.Extra != "") && len(m.Calls) == 0 && m.CallID == ""
		called := tools && (m.Role == Assistant && len(m.Calls) > 0 || m.Role == ToolRole && m.CallID != "")
		switch {
		case !said && !called:
			return messages.InvalidInput("earlier message %d is not a text of the user or the assistant; leave it out", i+1)
		case said && strings.TrimSpace(m.Content) == "" && m.Extra == "":
			return messages.InvalidInput("earlier message %d is empty; leave it out", i+1)
		case !utf8.ValidString(m.Content):
			return messages.InvalidInput("earlier message %d is not UTF-8; convert it", i+1)
		}
	}
	return nil
}

// Continues reports whether a model can go on without a further message of the user: after one with Extra, after the result of a call, after
// words of the assistant, or with a system prompt alone.
func Continues(system string, msgs []Message) bool {
	if len(msgs) == 0 {
		return strings.TrimSpace(system) != ""
	}
	last := msgs[len(msgs)-1]
	return last.Role == ToolRole || last.Role == User && last.Extra != "" || last.Role == Assistant && len(last.Calls) == 0
}

// Size returns the bytes of the messages' texts and calls.
func Size(earlier []Message) (n int) {
	for _, m := range earlier {
		n += len(m.Content)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	return n
}
