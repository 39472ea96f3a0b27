package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Answers to the question whether a tool may be called.
const (
	once           = "yes, once"
	inConversation = "yes, in this conversation"
	always         = "yes, always"
	no             = "no"
)

// approvalsLast returns the order in which calls begin: calls that need no approval come first.
func (u *turn) approvalsLast(calls []model.ToolCall) []int {
	order := make([]int, len(calls))
	for i := range order {
		order[i] = i
	}
	stable.Sort(order, func(a, b int) int {
		return cmp.Compare(u.access(calls[a]), u.access(calls[b]))
	})
	return order
}

// access returns the access that the user must approve before the call: Write or none.
func (u *turn) access(c model.ToolCall) tool.Access {
	switch {
	case u.Tools.Named(c.Name):
		return tool.None
	case u.exposed(c.Name):
		return tool.Write
	}
	return u.Tools.Tool(c.Name).Access & tool.Write
}

// exposed reports whether text of strangers could make the model send away what it knows with a call of the tool. Then
// only an answer to this one call allows it.
func (u *turn) exposed(name string) bool {
	return u.tainted && u.Tools.Tool(name).Network && !u.Tools.Named(name)
}

// approve returns why a call must not be made, or nil. A call of a tool that writes, or is exposed, needs the user's
// approval, unless the input names the tool. A call that has begun was approved, unless the log says otherwise.
func (u *turn) approve(ctx context.Context, id string, c model.ToolCall, begun bool) (denied, failed error) {
	if u.access(c) == tool.None || u.spent.equal >= warnAt || u.Tools.Check(c.Name, json.RawMessage(c.Arguments)) != nil {
		return nil, nil // it needs no approval, or it will fail without having run
	}
	pin := u.Tools.Tool(c.Name).Pin()
	question := u.approvalRequest(id, pin, c)
	word, answered := u.past.Inputs[question.Request]
	if begun && !answered {
		return nil, nil
	}
	if !answered {
		allowed, err := u.isAllowed(c.Name, pin)
		switch {
		case allowed || err != nil:
			return nil, err
		case u.Unattended:
			return messages.InvalidInput("%s may change something, and nobody is here to allow that; do without it, "+
				"or tell the user to allow %s by name", c.Name, c.Name), nil
		}
		word, err = tool.Ask(ctx, u.task, question)
		if err != nil && (ctx.Err() != nil || messages.CodeOf(err) != messages.CauseDeadline) {
			return nil, err
		}
	}
	return u.decide(word, c.Name, pin)
}

// approvalRequest makes the question. It shows all of the arguments. Its name contains a digest of what it shows and of
// the tool's pin, so that its answer cannot be used for another call.
func (u *turn) approvalRequest(id, pin string, c model.ToolCall) messages.InputRequired {
	answers := []string{once, inConversation, always, no}
	if u.Always == nil {
		answers = slices.DeleteFunc(answers, func(a string) bool { return a == always })
	}
	prompt := fmt.Sprintf("May %s be called with %s?", c.Name, words.Visible(c.Arguments))
	if u.exposed(c.Name) {
		answers = []string{once, no}
		prompt += fmt.Sprintf(" It reaches the network, and the conversation has text of strangers, which could make the model "+
			"send away what it knows. The text is from %s.", u.strangers())
	}
	schema, _ := json.Marshal(map[string]any{"type": "string", "enum": answers}) // plain JSON values
	return messages.InputRequired{Request: "approve." + id + "." + messages.Digest(prompt + pin)[:16],
		InputKind: messages.InputConfirmation, Schema: schema, Prompt: prompt}
}

// decide applies the user's answer. word is empty if nobody answered in time.
func (u *turn) decide(word json.RawMessage, name, pin string) (denied, failed error) {
	text := string(word)
	_ = json.Unmarshal(word, &text) // true is not a string
	switch text {
	case always, inConversation:
		u.allowed = append(u.allowed, pin)
		return nil, u.keep(name, pin, text == always)
	case once, "true":
		return nil, nil
	}
	u.denied = true
	if len(word) == 0 {
		return messages.Errorf(messages.CauseDeadline, "nobody allowed the call of %s in time", name), nil
	}
	return messages.Errorf(messages.CauseCanceledByUser, "the user does not allow the call of %s", name), nil
}

// keep keeps an approval beyond the turn. The user's own list has also what holds for a conversation, whose file may be
// a stranger's.
func (u *turn) keep(name, pin string, forever bool) error {
	switch {
	case u.Always != nil && forever:
		return u.Always.Add(name, pin)
	case u.memory == nil:
		return nil
	case u.Always != nil:
		return u.Always.Add(name, u.here(pin))
	}
	return u.memory.Allow(pin)
}

// here returns a pin that holds for the conversation alone.
func (u *turn) here(pin string) string { return messages.Digest(pin + " in " + u.context) }

// isAllowed reports whether the user has already allowed the tool with the pin.
func (u *turn) isAllowed(name, pin string) (bool, error) {
	if u.exposed(name) {
		return false, nil
	}
	if slices.Contains(u.allowed, pin) {
		return true, nil
	}
	if u.Always == nil {
		return u.memory != nil && u.memory.Allowed(pin), nil
	}
	has, err := u.Always.Has(pin)
	if !has && err == nil && u.memory != nil {
		has, err = u.Always.Has(u.here(pin))
	}
	return has, err
}

// named joins at most so many names for people.
func named(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// strangers names what in the conversation strangers have written.
func (u *turn) strangers() string {
	var names []string
	for i, m := range u.conversation {
		for _, c := range m.Calls {
			if !u.Tools.Tool(c.Name).Outside {
				continue
			}
			result := ""
			if n := slices.IndexFunc(u.conversation[i:], func(m model.Message) bool { return m.CallID == c.ID }); n >= 0 {
				result = u.conversation[i+n].Content
			}
			for _, name := range u.Tools.Sources(c.Name, c.Arguments, result) {
				if name = words.Clip(words.OneLine(name), mostSource); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return cmp.Or(named(names, mostSources), "an earlier part of the conversation")
}

const mostSource = 200 // bytes of a name in a question

// guard notes that a call has brought text of strangers into the conversation: that text could make the model send away
// what it knows.
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
		return u.taint()
	}
	return nil
}

// taint notes that the conversation has text of strangers. From now on each call of a tool that reaches the network
// needs its own answer; where nobody answers, the tools are withheld.
func (u *turn) taint() error {
	u.tainted = true
	safe, withheld := u.Tools.Safe()
	then := "each call of tools that reach the network needs your answer"
	if u.Unattended {
		u.Tools, then = safe, "the model may no longer call tools that reach the network"
	}
	if len(withheld) == 0 {
		return nil
	}
	return u.task.Notice(messages.NoticeToolsWithheld,
		"the conversation has text of strangers now, so "+then+"; to allow them, name them: "+named(withheld, 3))
}
