package model

import (
	"slices"
	"strings"
	"unicode"
)

// Finish is the meaning of a finish_reason.
type Finish int

// The meanings of a finish_reason.
const (
	// Unfinished: there is no finish_reason, or the answer continues.
	Unfinished Finish = iota
	// Stopped: the model ended the answer, or called a tool.
	Stopped
	// Unknown: an unknown word. It is evidence, but does not count as Stopped.
	Unknown
	// Truncated: the server cut the answer for its length.
	Truncated
	// Filtered: the server cut the answer for its content.
	Filtered
	// Broken: the server failed.
	Broken
)

// FinishOf returns the meaning of a finish_reason. It ignores case and separators: max_tokens, maxTokens and
// FINISH_REASON_MAX_TOKENS are the same. An unknown word has the worst meaning of the known parts in it.
func FinishOf(reason string) Finish {
	squeezed := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, reason)
	for _, prefix := range []string{"finishreason", "stopreason", "donereason"} {
		squeezed = strings.TrimPrefix(squeezed, prefix)
	}
	switch {
	case slices.Contains(unfinished, squeezed):
		return Unfinished
	case slices.Contains(stops, squeezed):
		return Stopped
	case holdsAny(squeezed, malformations):
		return Broken
	case holdsAny(squeezed, filters), squeezed == "language", squeezed == "pii":
		return Filtered
	case holdsAny(squeezed, failures), squeezed == "oom":
		return Broken
	case holdsAny(squeezed, cuts):
		return Truncated
	}
	return Unknown
}

func holdsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// Known words, without separators. stops and unfinished are whole words; the others are parts of words.
var (
	unfinished = []string{"", "null", "none", "nil", "undefined", "notfinished", "unfinished", "inprogress",
		"notstopped", "false", "running", "pending", "queued", "processing", "generating", "streaming", "continue"}

	// stops has the words of OpenAI, Anthropic, Cohere, TGI, watsonx, llama.cpp, LM Studio, Ernie and Titan.
	stops = []string{"stop", "stopped", "stops", "endturn", "endofturn", "endoftext", "endofsequence", "endofstream",
		"endoftexttoken", "endtoken", "endid", "end", "eos", "eostoken", "eosfound", "eog", "eogtoken", "eot",
		"eottoken", "stopsequence", "stopsequences", "stopstring", "stopstringfound", "stopword", "stopwords",
		"stoptoken", "stopcriteria", "stopcriteriamet", "stoptrigger", "word", "final", "complete", "completed",
		"completion", "finish", "finished", "done", "normal", "natural", "naturalstop", "success", "succeeded", "ok",
		"toolcall", "toolcalls", "tooluse", "functioncall", "functioncalls"}

	// malformations take precedence over filters, as in function_call_filter: MALFORMED_FUNCTION_CALL.
	malformations = []string{"malformed", "unexpectedtool", "missingthought"}

	filters = []string{"filter", "safety", "unsafe", "recitation", "sensitive", "refus", "moderat", "guardrail",
		"guarded", "block", "blacklist", "banned", "prohibit", "spii", "toxic", "policy", "violat", "censor",
		"harmful", "flagged", "copyright", "modelarmor", "nsfw", "profan", "jailbreak", "injection", "compliance",
		"contentrisk", "illegal", "forbidden", "disallowed", "intervened", "deny", "denied", "redact",
		"inappropriate", "risk", "sexual", "nudity", "violence", "hatespeech", "selfharm", "abus", "offensive", "csam",
		"dmca", "malicious", "withheld", "declined", "suppressed", "restricted", "敏感", "过滤", "违规"}

	failures = []string{"error", "errno", "fail", "abort", "cancel", "timeout", "timedout", "timelimit", "deadline",
		"network", "insufficient", "resource", "unavailable", "overload", "exception", "crash", "panic", "interrupt",
		"disconnect", "connection", "unload", "killed", "preempt", "evict", "ratelimit", "toomanytool", "toomanyreq",
		"quota", "balance", "credit", "internal", "outofmemory", "cudaoom", "invalid", "reject", "shutdown", "busy", "userstop",
		"stoppedbyuser", "terminated", "unclosed", "expired", "unsupported", "closed", "dropped", "lost", "corrupt", "throttl", "capacity", "gateway",
		"unreachable", "unauthorized", "stall", "dead", "died", "gone", "hangup", "hungup", "reset", "superseded", "错误",
		"失败", "超时"}

	cuts = []string{"length", "max", "limit", "truncat", "budget", "context", "window", "overflow", "cutoff",
		"incomplete", "partial", "repetition", "outoftokens", "toolong", "compaction", "exceed", "exhaust",
		"toomany", "loop", "repeat", "cutshort", "ranout", "cachefull", "numpredict", "capped", "ceiling", "截断", "长度"}
)
