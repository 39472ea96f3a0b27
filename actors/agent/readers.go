package agent

import (
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// claude reads Claude Code, seen at 2.1.332.
func claude(h *headless, line object) error {
	switch line.text("type") {
	case "system":
		return h.claudeSystem(line)
	case "stream_event":
		delta := line.object("event.delta")
		if id := line.text("event.message.id"); id != "" {
			h.whole[id] = true
		}
		if line.text("parent_tool_use_id") != "" {
			return nil
		}
		switch delta.text("type") {
		case "text_delta":
			return h.text(line.text("api_message_id"), delta.text("text"))
		case "thinking_delta":
			return h.think(delta.text("thinking"))
		}
		return nil
	case "assistant", "user":
		id := line.text("message.id")
		if line.text("parent_tool_use_id") != "" {
			h.whole[id] = true // an agent below this one: its text is no answer
		}
		for _, part := range line.list("message.content") {
			if line.text("type") == "user" && part.text("type") != "tool_result" {
				continue // what it is told, such as the summary of its history, is no answer
			}
			if err := h.claudePart(id, part); err != nil {
				return err
			}
		}
		return nil
	case "result":
		return h.claudeResult(line)
	}
	return h.unknown(line)
}

func (h *headless) claudeSystem(line object) error {
	switch line.text("subtype") {
	case "init":
		return h.again()
	case "api_retry":
		return h.retry(strings.TrimSpace(line.text("error_status") + " " + line.text("error")))
	case "compact_boundary":
		return h.shorten()
	case "permission_denied":
		h.refuse(line.either("tool_name", "tool"))
		return h.Task.Log(messages.LogWarn, "the call of "+line.text("tool_name")+" was refused")
	}
	return nil
}

func (h *headless) claudePart(id string, part object) error {
	switch part.text("type") {
	case "text", "thinking":
		if h.whole[id] {
			return nil
		}
		if part.text("type") == "thinking" {
			return h.think(part.text("thinking"))
		}
		return h.text(id, part.text("text"))
	case "tool_use":
		return h.start(h.tool(part.text("id"), part.text("name"), part.json("input")))
	case "tool_result":
		failed := ""
		if part["is_error"] == true {
			failed = plainText(part["content"])
		}
		return h.finish(h.tool(part.text("tool_use_id"), "", nil), part.json("content"), failed)
	}
	return nil
}

func (h *headless) claudeResult(line object) (err error) {
	for _, one := range line.list("permission_denials") {
		h.refuse(one.text("tool_name"))
	}
	u := line.object("usage")
	if cost := line.float("total_cost_usd"); cost > 0 {
		h.cost = &messages.Cost{Amount: cost, Currency: messages.Currency}
	}
	subtype, status, code := line.text("subtype"), line.text("api_error_status"), messages.Code("")
	if strings.HasPrefix(subtype, "error_max_") {
		code = messages.CauseLimitExceeded
	} else if line["is_error"] == true || strings.HasPrefix(subtype, "error") {
		code = messages.CauseError
		if status != "" || strings.HasPrefix(line.text("result"), "API Error") || h.retries > 0 {
			code = messages.CauseProviderError
		}
	}
	if text := line.text("result"); code == "" && strings.TrimSpace(text) != strings.TrimSpace(h.last.String()) {
		err = h.text("result", text) // its last word, which no message had
	}
	h.uses(usageOf(u, "input_tokens", "output_tokens", "cache_read_input_tokens", "", "cache_read_input_tokens", "cache_creation_input_tokens"))
	h.word(line.either("stop_reason", "subtype"), code, strings.TrimSpace(subtype+" "+line.text("result")))
	return err
}

// codex reads codex exec, seen at 0.171.
func codex(h *headless, line object) error {
	switch kind := line.text("type"); kind {
	case "thread.started", "turn.started":
		return h.again()
	case "item.started", "item.updated", "item.completed":
		return h.codexItem(line.object("item"), kind == "item.completed")
	case "error":
		says := line.text("message")
		h.broken = says
		return h.retry(says)
	case "turn.failed":
		h.word("failed", messages.CauseProviderError, line.text("error.message"))
		return nil
	case "turn.completed":
		h.uses(usageOf(line.object("usage"), "input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens"))
		if h.broken != "" || h.usage == nil && h.retried != "" { // the provider's stream was cut
			h.word("completed", messages.CauseProviderError, h.retried)
		} else {
			h.word("completed", "", "")
		}
		return nil
	}
	return h.unknown(line)
}

func (h *headless) codexItem(item object, over bool) error {
	id := item.text("id")
	switch kind := item.text("type"); kind {
	case "agent_message", "reasoning", "context_compaction", "compaction":
		switch {
		case !over:
			return nil
		case kind == "agent_message":
			return h.text(id, item.text("text"))
		case kind == "reasoning":
			return h.think(item.text("text"))
		}
		return h.shorten()
	case "error":
		return h.Task.Log(messages.LogWarn, item.text("message"))
	case "todo_list":
		return h.plan(item.list("items"))
	default:
		c := h.tool(id, kind, item.without("id", "type", "status", "aggregated_output", "exit_code", "result", "error"))
		if !over {
			return h.start(c)
		}
		failed := ""
		if status := item.text("status"); status == "failed" || status == "declined" {
			if failed = item.either("error.message", "aggregated_output"); failed == "" {
				failed = status
			}
			if status == "declined" {
				h.refuse(kind)
			}
		}
		result := item.json("result")
		if isEmpty(result) {
			result = quoted(item.text("aggregated_output"))
		}
		return h.finish(c, result, failed)
	}
}

// gemini reads Gemini CLI, seen at 0.61.
func gemini(h *headless, line object) error {
	switch line.text("type") {
	case "init":
		return nil
	case "message":
		if line.text("role") != "assistant" {
			return nil
		}
		return h.text("", line.text("content"))
	case "tool_use":
		return h.start(h.tool(line.text("tool_id"), line.text("tool_name"), line.json("parameters")))
	case "tool_result":
		failed := ""
		if line.text("status") != "success" {
			if failed = line.either("error.message", "output"); failed == "" {
				failed = "it failed"
			}
			if strings.Contains(strings.ToLower(failed+line.text("error.type")), "denied") {
				h.refuse(h.tool(line.text("tool_id"), "", nil).tool)
			}
		}
		return h.finish(h.tool(line.text("tool_id"), "", nil), line.json("output"), failed)
	case "error":
		return h.Task.Log(messages.LogWarn, line.text("message"))
	case "result":
		h.uses(usageOf(line.object("stats"), "input_tokens", "output_tokens", "cached", ""))
		code, says := messages.Code(""), line.text("error.message")
		if line.text("status") != "success" {
			code = messages.CauseError
			if strings.Contains(says, "API Error") {
				code = messages.CauseProviderError
			}
			if kind := line.text("error.type"); strings.Contains(kind, "MaxSessionTurns") || strings.Contains(kind, "Turn") {
				code = messages.CauseLimitExceeded
			}
		}
		h.word(line.text("status"), code, says)
		return nil
	}
	if strings.Contains(line.text("type"), "compress") {
		return h.shorten()
	}
	return h.unknown(line)
}

// opencode reads OpenCode, seen at 1.18.33. It has no last word: the last step says why it ended.
func opencode(h *headless, line object) error {
	part := line.object("part")
	switch line.text("type") {
	case "step_start":
		return h.again()
	case "text":
		return h.text(part.text("id"), part.text("text"))
	case "reasoning":
		return h.think(part.text("text"))
	case "tool_use":
		c := h.tool(part.text("callID"), part.text("tool"), part.json("state.input"))
		failed := part.text("state.error")
		if strings.Contains(failed, "rejected permission") {
			h.refuse(c.tool)
		}
		return h.finish(c, part.json("state.output"), failed)
	case "step_finish":
		if h.opencodeStep(part); h.said {
			return nil
		}
		return h.tell()
	case "error":
		says := line.either("error.data.message", "error.message", "error.name")
		h.broken = says
		return h.Task.Log(messages.LogError, says)
	}
	if strings.Contains(line.text("type")+part.text("type"), "compact") {
		return h.shorten()
	}
	return h.unknown(line)
}

func (h *headless) opencodeStep(part object) {
	id := part.text("id")
	if id != "" && h.whole[id] {
		return // said twice
	}
	h.whole[id] = true
	h.uses(h.usage.Sum(usageOf(part.object("tokens"), "input", "output", "cache.read", "reasoning", "cache.read", "cache.write")))
	if cost := part.float("cost"); cost > 0 {
		if h.cost == nil {
			h.cost = &messages.Cost{Currency: messages.Currency}
		}
		h.cost.Amount += cost
	}
	switch reason := part.text("reason"); reason {
	case "tool-calls":
		h.stop = reason // another step follows
	case "length":
		h.word(reason, messages.CauseLimitExceeded, "its answer was cut at the model's limit")
	case "content-filter":
		h.word(reason, codeRefused, "the model refused to answer")
	case "error", "unknown", "other":
		h.word(reason, messages.CauseProviderError, "its model ended with "+reason)
	default:
		h.word(reason, "", "")
	}
}
