package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// update takes what the agent says of its turn. What it repeats of an earlier one comes before the prompt.
func (c *client) update(u object) error {
	switch kind := u.text("sessionUpdate"); kind {
	case "agent_message_chunk":
		text, id := plainText(u["content"]), u.text("messageId")
		if id == "" && (c.ids || c.of != "") || u.text("_meta.claudeCode.kind") == "informational" { // a warning, and no answer
			c.retried = words.OneLine(text)
			return c.Task.Log(messages.LogInfo, text)
		}
		return c.text(id, text)
	case "agent_thought_chunk":
		return c.think(plainText(u["content"]))
	case "tool_call", "tool_call_update":
		return c.toolCall(u)
	case "plan":
		return c.plan(u.list("entries"))
	case "usage_update":
		if u.at("cost.amount") != nil {
			c.cost = &messages.Cost{Amount: u.float("cost.amount"), Currency: u.text("cost.currency")}
			return c.tell()
		}
	case "session_info_update":
		return c.info(u)
	default:
		if strings.Contains(kind, "compact") && !slices.Contains([]string{"pending", "in_progress", "started"}, u.text("status")) {
			return c.shorten()
		}
	}
	return nil
}

// info takes what Codex says beside the protocol.
func (c *client) info(u object) error {
	switch codex := u.object("_meta.codex"); {
	case codex.text("threadStatus.type") == "systemError":
		c.flagged = cmp.Or(c.retried, "a system error")
	case codex["error"] != nil:
		return c.retry(codex.text("error.message"))
	}
	return nil
}

// toolOf returns the call that an update or a permission is about.
func (c *client) toolOf(u object) *call {
	title := u.text("title")
	name := cmp.Or(u.text("name"), u.text("_meta.claudeCode.toolName"), u.text("kind"))
	known := c.calls[u.text("toolCallId")]
	if known != nil && known.tool != "" && u.text("name") == "" {
		name = known.tool
	}
	call := c.tool(u.text("toolCallId"), name, u.json("rawInput"))
	call.title = cmp.Or(title, call.title)
	return call
}

// toolCall takes a call or a change of one. A call begins when its arguments are known, it ends, or 200 ms have passed.
func (c *client) toolCall(u object) error {
	call := c.toolOf(u)
	if delta := u.text("_meta.terminal_output_delta.data"); delta != "" {
		if err := c.progress(call, call.output+delta); err != nil {
			return err
		}
	}
	result := u.json("rawOutput")
	if content := u.json("content"); isEmpty(result) && !isEmpty(content) {
		result = content
	}
	switch status := u.text("status"); {
	case status == "completed" && !c.canceled:
		return c.finish(call, result, "")
	case status == "completed", status == "failed", status == "cancelled":
		return c.finish(call, nil, cmp.Or(plainText(u["content"]), plainText(u["rawOutput"]), "canceled"))
	}
	if call.started || !isEmpty(call.arguments) {
		if err := c.start(call); err != nil || isEmpty(u.json("content")) {
			return err
		}
		if text := plainText(u["content"]); text != "" {
			return c.progress(call, text)
		}
		return nil
	}
	time.AfterFunc(200*time.Millisecond, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.leaving {
			_ = c.start(call) // the next event says what is wrong
		}
	})
	return nil
}
