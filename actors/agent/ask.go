package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// breadth sorts the options of a permission: those that allow come first, and the narrower ones before the wider ones.
var breadth = []string{"allow_once", "allow_always", "reject_once", "reject_always"}

// permission asks people whether the agent may make a call. Nothing answers for them.
func (c *client) permission(id json.RawMessage, p object) error {
	of := p.object("toolCall")
	call := c.toolOf(of)
	if err := c.start(call); err != nil {
		return err
	}
	options := p.list("options")
	stable.Sort(options, func(a, b object) int {
		return cmp.Compare(slices.Index(breadth, a.text("kind")), slices.Index(breadth, b.text("kind")))
	})
	names, rejects := []string{}, map[string]bool{}
	for _, o := range options {
		names = append(names, o.text("optionId"))
		rejects[o.text("optionId")] = strings.HasPrefix(o.text("kind"), "reject")
	}
	always := c.cover(call, of, options)
	if kept, err := c.isKept(always); kept || err != nil {
		c.reply(id, selected(always.once))
		return err
	}
	schema, _ := json.Marshal(map[string]any{"type": "string", "enum": names}) // plain JSON values
	asked := messages.InputRequired{Request: c.request(call.id), Prompt: c.wholeOf(call, of, options, always), Schema: schema, InputKind: messages.InputConfirmation}
	c.question(asked, func(value json.RawMessage, err error) any {
		var chosen string
		known := err == nil && json.Unmarshal(value, &chosen) == nil && slices.Contains(names, chosen)
		if !known || rejects[chosen] {
			c.refused = append(c.refused, words.OneLine(cmp.Or(of.text("title"), call.tool)))
		}
		if !known {
			return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
		}
		return selected(c.keep(always, chosen))
	}, id)
	return nil
}

// selected is the answer to a permission.
func selected(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

// request names a question: by its call, and its number if the call asks again.
func (c *client) request(name string) string {
	if c.open[name]++; c.open[name] > 1 {
		return fmt.Sprintf("%s#%d", name, c.open[name])
	}
	return name
}

// wholeOf shows people all that they allow.
func (c *client) wholeOf(call *call, of object, options []object, always always) string {
	var b strings.Builder
	fmt.Fprintf(&b, "May %s do this? %s (%s)", c.name, words.OneLine(cmp.Or(of.text("title"), call.tool)), call.tool)
	if !isEmpty(call.arguments) {
		fmt.Fprintf(&b, "\n%s", unescaped(call.arguments))
	}
	if content := of.json("content"); !isEmpty(content) {
		fmt.Fprintf(&b, "\n%s", unescaped(content))
	}
	fmt.Fprintf(&b, "\nin %s", c.Dir)
	for _, o := range options {
		fmt.Fprintf(&b, "\n%s: %s", words.OneLine(o.text("optionId")), words.OneLine(cmp.Or(o.text("name"), o.text("kind"))))
		switch {
		case always.pin != "" && o.text("kind") == "allow_always":
			fmt.Fprintf(&b, " (permanently: lastword keeps the answer for %s; lastword agent allowed takes it back)", always.what)
		case strings.HasSuffix(o.text("kind"), "_always"):
			fmt.Fprintf(&b, " (wider than this call: %s keeps the answer, and asks no more)", c.name)
		}
	}
	return b.String()
}

// unescaped is JSON with the characters &, < and > as people read them.
func unescaped(text json.RawMessage) string {
	var b strings.Builder
	var value any
	d, e := json.NewDecoder(bytes.NewReader(text)), json.NewEncoder(&b)
	d.UseNumber()
	if e.SetEscapeHTML(false); d.Decode(&value) != nil || e.Encode(value) != nil {
		return string(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// elicit asks people what the agent wants to know.
func (c *client) elicit(id json.RawMessage, p object) {
	asked := messages.InputRequired{Request: c.request("question"), Prompt: p.text("message"), Schema: p.json("requestedSchema"), InputKind: messages.InputData}
	c.question(asked, func(value json.RawMessage, err error) any {
		if err != nil || isEmpty(value) {
			return map[string]any{"action": "cancel"}
		}
		return map[string]any{"action": "accept", "content": value}
	}, id)
}

// question asks people, while the agent goes on, and replies to the agent's request.
func (c *client) question(asked messages.InputRequired, answer func(json.RawMessage, error) any, id json.RawMessage) {
	answered := c.Asking()
	asks, withdraw := context.WithCancelCause(c.asks)
	c.asking[string(id)] = withdraw
	c.Task.Go(func(ctx context.Context) error {
		defer answered()
		defer withdraw(nil)
		value, err := c.Task.Ask(asks, asked)
		if err != nil && ctx.Err() == nil && asks.Err() == nil && messages.CodeOf(err) != messages.CauseDeadline {
			_ = c.Task.Log(messages.LogWarn, fmt.Sprintf("the question %s cannot be asked: %v", asked.Request, err)) // the agent hears of it, too
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asking, string(id))
		if messages.CodeOf(err) == messages.CodeWithdrawn {
			c.send(map[string]any{"id": id, "error": rpcError{Code: -32800, Message: "Request cancelled"}})
			return nil
		}
		c.reply(id, answer(value, err))
		return nil
	})
}
