package model_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// finishes are words that servers are known to send.
var finishes = map[model.Finish][]string{
	model.Unfinished: {"", "null", "None", "not_finished", "FINISH_REASON_NULL", "false", "running", "pending"},
	model.Stopped: {"stop", "STOP", "end_turn", "stop_sequence", "tool_use", "tool_calls", "function_call", "COMPLETE",
		"STOP_SEQUENCE", "TOOL_CALL", "eos", "eos_token", "eosFound", "stopStringFound", "toolCalls", "FINISH", "normal",
		"endoftext", "end_of_text", "FINISH_REASON_STOP", "FinishReason.STOP", "FINAL"},
	model.Truncated: {"length", "LENGTH", "max_tokens", "MAX_TOKENS", "MaxTokens", "max-tokens", "model_length",
		"max_output_tokens", "maximum_tokens", "token_limit", "limit", "model_context_window_exceeded",
		"context_length_exceeded", "maxPredictedTokensReached", "contextLengthReached", "length_limit",
		"FINISH_REASON_MAX_TOKENS", "truncated", "repetition", "incomplete", "out_of_tokens",
		"too_many_tokens", "tokens_exhausted", "BUDGET_EXHAUSTED", "loop_detected", "kv_cache_full", "num_predict", "长度限制"},
	model.Filtered: {"content_filter", "content-filter", "CONTENT_FILTERED", "contentFilter", "content_filter: SAFETY",
		"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "sensitive",
		"output_sensitive", "refusal", "guardrail_intervened", "ERROR_TOXIC", "MODEL_ARMOR", "blacklist", "moderation",
		"content_policy_violation", "safety_stop", "FINISH_REASON_SAFETY", "inappropriate_content", "risk_control", "hate_speech", "self_harm",
		"withheld", "内容过滤"},
	model.Broken: {"error", "ERROR", "Error", "abort", "aborted", "network_error", "insufficient_system_resource",
		"server_error", "internal_error", "timeout", "TIMEOUT", "time_limit", "cancelled", "canceled", "USER_CANCEL",
		"ERROR_LIMIT", "failed", "failure", "MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL",
		"malformed_model_output", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "modelUnloaded", "userStopped",
		"rate_limit", "overloaded", "unclosed stream", "FINISH_REASON_ERROR", "throttled", "RESOURCE_EXHAUSTED",
		"too_many_requests", "no_capacity", "bad_gateway", "stalled", "worker_died", "unreachable", "错误"},
	model.Unknown: {"xyzzy", "OTHER", "FINISH_REASON_UNSPECIFIED", "load", "pause_turn", "7", "保留"},
}

// Contract, section 7: "in any spelling".
func TestFinishes(t *testing.T) {
	for want, words := range finishes {
		for _, word := range words {
			for _, spelled := range []string{word, strings.ToUpper(word), strings.ToLower(word), " " + word + " "} {
				if got := model.FinishOf(spelled); got != want {
					t.Errorf("%q means %d, want %d", spelled, got, want)
				}
			}
			e := model.Evidence{Done: true, Output: true, Finish: word}
			for _, e.Done = range []bool{true, false} {
				e.Framed, e.FinishLast = !e.Done, !e.Done
				v := model.Judge(model.Generic, e)
				completed := want != model.Broken && (e.Done || want != model.Unfinished)
				if (v.Outcome == model.Completed) != completed || v.Truncated != (want == model.Truncated) ||
					v.Filtered != (want == model.Filtered) {
					t.Errorf("%q, [DONE] %t: %+v", word, e.Done, v)
				}
				if want == model.Broken && (v.Cause != messages.CauseProviderError || !strings.Contains(v.Message, word)) {
					t.Errorf("%q: %+v", word, v)
				}
				if told := strings.Contains(e.String(), "unknown finish_reason "+word); told != (want == model.Unknown) {
					t.Errorf("%q, [DONE] %t: the evidence is %q", word, e.Done, e)
				}
			}
		}
	}
}

// FuzzFinish: no spelling of a word that is known to be no stop completes an answer without a flag; a word in any
// case and with any marks between its letters means the same.
func FuzzFinish(f *testing.F) {
	for _, words := range finishes {
		for _, word := range words {
			f.Add(word, "_", true)
		}
	}
	f.Fuzz(func(t *testing.T, word, mark string, upper bool) {
		want := model.FinishOf(word)
		if strings.ContainsFunc(mark, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			mark = "-"
		}
		var spelled strings.Builder
		for _, r := range word {
			if upper && r < unicode.MaxASCII {
				r = unicode.ToUpper(r)
			}
			spelled.WriteString(string(r) + mark)
		}
		if got := model.FinishOf(spelled.String()); got != want {
			t.Fatalf("%q means %d, and %q %d", word, want, spelled.String(), got)
		}
		e := model.Evidence{Done: true, Output: true, Finish: word}
		v := model.Judge(model.Strict, e)
		plain := v.Outcome == model.Completed && !v.Truncated && !v.Filtered && e.String() == "done"
		if plain != (want <= model.Stopped) {
			t.Fatalf("%q means %d: %+v, %s", word, want, v, e)
		}
		for _, grave := range []string{"error", "max_tokens", "content_filter"} {
			if got := model.FinishOf(word + "_" + grave); got < model.Truncated {
				t.Fatalf("%s_%s means %d", word, grave, got)
			}
		}
	})
}

func TestNamesOfOneModel(t *testing.T) {
	for kind, pairs := range fatal.Table[map[string][][2]string](t, "testdata/names.json") {
		for _, pair := range pairs {
			want := kind == "same"
			if model.SameModel(pair[0], pair[1]) != want || model.SameModel(pair[1], pair[0]) != want {
				t.Errorf("%q: want %v", pair, want)
			}
		}
	}
}
