package messages

import (
	"cmp"
	"encoding/json"
)

// LLMStarted says that a call to a language model began. Call is unique in its run.
type LLMStarted struct {
	// Call is the name of the call, unique in its run.
	Call string `json:"call"`
	// Task owns the call; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Model is the model as the request names it.
	Model string `json:"model"`
	// Provider names the server, for example lmstudio; "" if it is not known.
	Provider string `json:"provider,omitempty"`
	// SHA256 is the lower-case hexadecimal digest of the request, without what a budget adds to it.
	SHA256 string `json:"sha256,omitempty"`
	// Reserved is what the call may spend of the run's budget.
	Reserved Budget `json:"reserved,omitzero"`
}

func (LLMStarted) info() *KindInfo { return llmStarted }

var llmStarted = row(LLMStarted{}, KindLLMStarted, "model", "A call to a language model began.", traits{
	taskSays: true,
	legal:    with(func(b LLMStarted, f *Fold) *Refusal { return f.legalCall(b.Call, b.Task) }),
	apply: to(func(b LLMStarted, f *Fold) {
		c := Call{ID: b.Call, Task: b.Task, Model: true, Name: b.Model}
		p := f.purse()
		if p.Spent.ModelCalls++; b.Reserved != (Budget{}) {
			p.Reserved, c.Reserved = p.Reserved.Plus(b.Reserved), &b.Reserved
		}
		f.calls.put(&f.s.Calls, -1, c)
	}),
	list: to(func(_ LLMStarted, s *Summary) { s.spend(Budget{ModelCalls: 1}, false) }),
})

// LLMCompleted says how a call to a language model ended.
type LLMCompleted struct {
	// Call is the Call of the llm.started.
	Call  string `json:"call"`
	Task  string `json:"task,omitempty"`
	Model string `json:"model"`
	// Usage is nil if the server reported none; in a run with a budget it is then an estimate.
	Usage *Usage `json:"usage,omitempty"`
	// FirstTokenMS is the time to the first token in milliseconds; 0 if none came.
	FirstTokenMS int64 `json:"first_token_ms,omitempty"`
	// FinishReason is the server's word for why the answer ended, for example stop; it is length if lastword ended it.
	FinishReason string `json:"finish_reason,omitempty" text:"any"`
	// Evidence is the reason for the verdict, for example done-marker or eof+finish.
	Evidence string `json:"evidence" text:"any"`
	// Verdict is completed, failed or canceled.
	Verdict string `json:"verdict"`
	// Error says why the call failed; nil for other verdicts.
	Error *Error `json:"error,omitempty"`
	// Calls are the tools that the answer calls, in order. Nobody runs the calls of a cut answer.
	Calls []ToolCall `json:"calls,omitempty"`
	// ThoughtsIn is the member of the answer that had the thoughts. Extra is a JSON object: members of the answer that
	// nobody reads here, and that go back to the server with it.
	ThoughtsIn string `json:"thoughts_in,omitempty" text:"any"`
	Extra      string `json:"extra,omitempty" text:"any"`
	// Seen are the messages to the run that are in the request for the first time, if the server accepted it.
	Seen []string `json:"seen,omitempty"`
	// Text is an answer that was not streamed, such as JSON, of up to 1 MiB: the text, or the arguments of a call.
	Text string `json:"text,omitempty" text:"any"`
}

// ToolCall is a call of a tool as the model wrote it. It begins with a tool.started of the same Call.
type ToolCall struct {
	Call string `json:"call" text:"any"`
	Tool string `json:"tool" text:"any"`
	// Arguments should be a JSON object, but models make mistakes.
	Arguments string `json:"arguments" text:"any"`
	// Extra is a JSON object: further members of the call, which go back to the server with it.
	Extra string `json:"extra,omitempty" text:"any"`
	// Cut says that the answer was cut, so the call is not whole.
	Cut bool `json:"cut,omitempty"`
}

// InputTokens estimates the tokens of a text that is sent to a model, of that many bytes: rather too many than too few.
func InputTokens(bytes int) int { return (bytes + 2) / 3 }

// OutputTokens estimates the tokens of a text that a model has written, of that many bytes: rather too few than too many,
// because its server may count them itself.
func OutputTokens(bytes int) int { return (bytes + 3) / 4 }

// Usage counts the tokens of a model call, as the provider reported them. What it did not report is nil.
type Usage struct {
	// PromptTokens counts the tokens of the request.
	PromptTokens *int64 `json:"prompt_tokens,omitempty"`
	// CompletionTokens counts the tokens of the answer, its thoughts included.
	CompletionTokens *int64 `json:"completion_tokens,omitempty"`
	// ReasoningTokens counts the tokens of its thoughts.
	ReasoningTokens *int64 `json:"reasoning_tokens,omitempty"`
	// CachedTokens counts the request's tokens that the server had read before.
	CachedTokens *int64 `json:"cached_tokens,omitempty"`
	// CacheWriteTokens counts the request's tokens that the server has stored.
	CacheWriteTokens *int64 `json:"cache_write_tokens,omitempty"`
	// Cost is what the call cost by the operator's prices, or by the agent's own word.
	Cost *Cost `json:"cost,omitempty"`
	// Estimated says that lastword has estimated the counts, because the server reported none.
	Estimated bool `json:"estimated,omitempty"`
}

// Tokens returns the counts of the request and of the answer; 0 for what is not known, or if u is nil.
func (u *Usage) Tokens() (prompt, completion int64) {
	if u == nil {
		return 0, 0
	}
	return known(u.PromptTokens), known(u.CompletionTokens)
}

// Total returns the tokens of the request and the answer together, or nil if one of them is not known.
func (u *Usage) Total() *int64 {
	if u == nil || u.PromptTokens == nil || u.CompletionTokens == nil {
		return nil
	}
	return sum(u.PromptTokens, u.CompletionTokens)
}

func known(count *int64) int64 {
	if count == nil {
		return 0
	}
	return *count
}

// Sum returns the usage of two calls together, where nil means none. What neither reported stays unknown.
func (u *Usage) Sum(v *Usage) *Usage {
	if u == nil || v == nil {
		return cmp.Or(u, v)
	}
	return &Usage{sum(u.PromptTokens, v.PromptTokens), sum(u.CompletionTokens, v.CompletionTokens),
		sum(u.ReasoningTokens, v.ReasoningTokens), sum(u.CachedTokens, v.CachedTokens), sum(u.CacheWriteTokens, v.CacheWriteTokens),
		sumCost(u.Cost, v.Cost), u.Estimated || v.Estimated}
}

func sumCost(a, b *Cost) *Cost {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &Cost{a.Amount + b.Amount, a.Currency}
}

func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(*a + *b)
}

func (LLMCompleted) info() *KindInfo { return llmCompleted }

var llmCompleted = row(LLMCompleted{}, KindLLMCompleted, "model", "A call to a language model ended, with the verdict on its end.", traits{
	taskSays: true,
	legal: with(func(b LLMCompleted, f *Fold) *Refusal {
		return cmp.Or(f.legalCallEnd(b.Call, b.Task, true), f.legalSeen(b.Seen))
	}),
	apply: to(func(b LLMCompleted, f *Fold) {
		f.endCall(b.Call)
		f.seen(b.Seen)
		f.spend(b.Usage.Amount(), b.Usage != nil && b.Usage.Estimated)
	}),
	list: to(func(b LLMCompleted, s *Summary) { s.spend(b.Usage.Amount(), b.Usage != nil && b.Usage.Estimated) }),
})

// UsageReported says what was spent where no llm.completed says it: by a program, or by an agent with its own models.
type UsageReported struct {
	// Task reports it; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Call is the open call of a model that this estimates: its end says what was used.
	Call string `json:"call,omitempty"`
	// By is who spent it: agent or program.
	By string `json:"by"`
	// Model is the model, if it is known.
	Model string `json:"model,omitempty"`
	// Usage counts what was spent since the report before.
	Usage Usage `json:"usage"`
	// ModelCalls and ToolCalls count calls since the report before.
	ModelCalls int64 `json:"model_calls,omitempty"`
	ToolCalls  int64 `json:"tool_calls,omitempty"`
}

func (UsageReported) info() *KindInfo { return usageReported }

var usageReported = row(UsageReported{}, KindUsage, "spending", "What an agent or a program has spent since its last report.", traits{
	taskSays: true,
	legal: with(func(b UsageReported, f *Fold) *Refusal {
		if b.By == "" || b.Amount().Check() != nil {
			return violates(RuleBody, "usage names no author, or its counts are negative")
		}
		if b.Call != "" {
			return f.legalCallEnd(b.Call, b.Task, true)
		}
		return f.legalSpeaker(b.Task)
	}),
	apply: to(func(b UsageReported, f *Fold) {
		if b.Call != "" {
			f.estimate(b.Call, b.Amount())
			return
		}
		f.spend(b.Amount(), b.Usage.Estimated)
	}),
	list: to(func(b UsageReported, s *Summary) {
		if b.Call == "" {
			s.spend(b.Amount(), b.Usage.Estimated)
		}
	}),
})

// estimate binds what an open call has used.
func (f *Fold) estimate(call string, more Budget) {
	i, p := f.call(call), f.purse()
	c := f.s.Calls[i]
	if p.Reserved = p.Reserved.Plus(more); c.Reserved != nil {
		more = more.Plus(*c.Reserved)
	}
	c.Reserved, c.Estimated = &more, true
	f.calls.put(&f.s.Calls, i, c)
}

// Amount returns what was spent.
func (b UsageReported) Amount() Budget {
	a := b.Usage.Amount()
	a.ModelCalls, a.ToolCalls = b.ModelCalls, b.ToolCalls
	return a
}

// ToolStarted says that a tool call began. Call is unique in its run.
type ToolStarted struct {
	// Call is the name of the call, unique in its run.
	Call string `json:"call"`
	// Task owns the call; "" is the run itself.
	Task string `json:"task,omitempty"`
	Tool string `json:"tool"`
	// Arguments are the arguments as JSON.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

func (ToolStarted) info() *KindInfo { return toolStarted }

var toolStarted = row(ToolStarted{}, KindToolStarted, "tools", "A tool call began.", traits{
	taskSays: true,
	legal:    with(func(b ToolStarted, f *Fold) *Refusal { return f.legalCall(b.Call, b.Task) }),
	apply: to(func(b ToolStarted, f *Fold) {
		f.calls.put(&f.s.Calls, -1, Call{ID: b.Call, Task: b.Task, Name: b.Tool})
		f.purse().Spent.ToolCalls++
	}),
	list: to(func(_ ToolStarted, s *Summary) { s.spend(Budget{ToolCalls: 1}, false) }),
})

// ToolProgress says how far a tool call has come.
type ToolProgress struct {
	Call string `json:"call"`
	Done int64  `json:"done"`
	// Total is 0 if it is unknown.
	Total int64 `json:"total,omitempty"`
	// Unit says what Done and Total count, for example bytes. For a fraction, Done counts thousandths, Total is 1000, and Unit is ‰.
	Unit string `json:"unit,omitempty"`
}

func (ToolProgress) info() *KindInfo { return toolProgress }

var toolProgress = row(ToolProgress{}, KindToolProgress, "tools", "How far a tool call is; the latest counts.", traits{
	level: Delta, taskSays: true,
	key: of(func(b ToolProgress) partKey { return partKey{'c', b.Call} }),
	legal: with(func(b ToolProgress, f *Fold) *Refusal {
		if f.openCall(b.Call, false) < 0 {
			return violates(ruleCall, "tool call %q is not open", b.Call)
		}
		return nil
	}),
	apply: to(func(b ToolProgress, f *Fold) { f.setToolProgress(f.call(b.Call), b) }),
})

// ToolCompleted says how a tool call ended: with a result, or with an error.
type ToolCompleted struct {
	Call string `json:"call"`
	Task string `json:"task,omitempty"`
	// Result is what the tool returned, as JSON; after an error it is empty, or the JSON-RPC error of a wrapped server.
	Result json.RawMessage `json:"result,omitempty"`
	// Error says why the tool failed; nil if it did not.
	Error *Error `json:"error,omitempty"`
}

func (ToolCompleted) info() *KindInfo { return toolCompleted }

var toolCompleted = row(ToolCompleted{}, KindToolCompleted, "tools", "A tool call ended, with its result or its error.", traits{
	taskSays: true,
	legal:    with(func(b ToolCompleted, f *Fold) *Refusal { return f.legalCallEnd(b.Call, b.Task, false) }),
	apply:    to(func(b ToolCompleted, f *Fold) { f.endCall(b.Call) }),
})

// openCall returns the index of the open model or tool call, or -1.
func (f *Fold) openCall(id string, model bool) int {
	if i := f.call(id); i >= 0 && !f.s.Calls[i].Ended && f.s.Calls[i].Model == model {
		return i
	}
	return -1
}

// legalCall checks that the id is new and that its task may speak.
func (f *Fold) legalCall(id, task string) *Refusal {
	if id == "" || f.call(id) >= 0 {
		return violates(ruleCall, "call %q repeats a name", id)
	}
	return f.legalSpeaker(task)
}

// legalCallEnd checks that the task has an open call with the id.
func (f *Fold) legalCallEnd(id, task string, model bool) *Refusal {
	if i := f.openCall(id, model); i < 0 || f.s.Calls[i].Task != task {
		return violates(ruleCall, "call %q of task %q is not open", id, task)
	}
	return nil
}

func (f *Fold) endCall(id string) {
	i := f.call(id)
	c := f.s.Calls[i]
	c.Ended = true
	f.release(&c)
	f.calls.put(&f.s.Calls, i, c)
}

func (f *Fold) setToolProgress(i int, p ToolProgress) {
	c := f.s.Calls[i]
	c.Progress = p
	f.calls.put(&f.s.Calls, i, c)
}
