package llm

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
)

// failureIn is what a payload says of a failure: a frame of an answer, or the body beside a status.
func failureIn(payload []byte) *model.Failure {
	payload = first(bytes.TrimSpace(payload))
	if len(payload) > 0 && payload[0] == '<' {
		return &model.Failure{Code: "html", Message: title(payload)}
	}
	var inner, outer said
	if !object(payload, outer.member) {
		return &model.Failure{Message: excerpt([]byte(cmp.Or(text(payload), string(payload))))}
	}
	if inner.find(payload, 0); inner.words() != "" && !strings.Contains(inner.words(), outer.message) {
		inner.message = inner.words() + ": " + outer.message
	}
	return &model.Failure{
		Code:    cmp.Or(inner.code, inner.kind, outer.code, outer.kind),
		Message: excerpt([]byte(cmp.Or(inner.words(), outer.words(), string(payload)))),
		Type:    cmp.Or(inner.kind, outer.kind), Param: cmp.Or(inner.param, outer.param),
	}
}

// unlisted is the only element of a list: Gemini's errors come in one.
func unlisted(frame []byte) []byte {
	n := 0
	if len(frame) > 0 && frame[0] == '[' && array(frame, func([]byte) { n++ }) && n == 1 {
		return first(frame)
	}
	return frame
}

// first is the first element of a list, or the value itself.
func first(value []byte) []byte {
	out := value
	array(value, func(element []byte) {
		if len(out) == len(value) {
			out = element
		}
	})
	return out
}

// The names of members in lower case.
var (
	codeKeys = []string{"code", "error_code", "errorcode", "err_code", "errcode", "status_code", "statuscode"}
	wordKeys = []string{"message", "detail", "msg", "error_msg", "errormsg", "error_message", "errormessage",
		"errmsg", "err_msg", "status_msg", "error_description", "faultstring"}
)

// deepestError is how deep an error is looked for: {"choices":[{"delta":{"error":…}}]}.
const deepestError = 4

// said is what the members of an object say of a failure.
type said struct{ message, code, kind, param, raw string }

func (s *said) member(key, value []byte) {
	switch name := strings.ToLower(string(key)); {
	case slices.Contains(wordKeys, name):
		s.message = cmp.Or(s.message, text(value))
		if nested(value) && !empty(value) {
			s.raw = cmp.Or(s.raw, string(value)) // what is wrong with a request, as a list
		}
	case slices.Contains(codeKeys, name) && !none(value):
		s.code = cmp.Or(s.code, text(value), string(value))
	case name == "status" && count(value) > 0:
		s.code = cmp.Or(s.code, string(value))
	case name == "type", name == "error_type", name == "status" && s.kind == "":
		s.kind = text(value)
	case name == "param":
		s.param = text(value)
	case name == "title", name == "reason":
		s.raw = cmp.Or(s.raw, text(value))
	case name == "metadata": // OpenRouter's, with the words of the provider behind it
		object(value, func(key, value []byte) {
			if string(key) == "raw" {
				s.raw = cmp.Or(text(value), string(value))
			}
		})
	}
}

func (s *said) words() string {
	if s.message != "" && s.raw != "" && !strings.Contains(s.message, s.raw) {
		return s.message + ": " + s.raw
	}
	return cmp.Or(s.message, s.raw)
}

// find looks for the errors in a value.
func (s *said) find(value []byte, depth int) {
	look := func(key, value []byte) {
		name := string(key)
		switch {
		case depth == deepestError:
		case isError(key, value), name == "base_resp", name == "header" && fails(value, "code"):
			s.hear(value, depth+1)
		default:
			s.find(value, depth+1)
		}
	}
	object(value, look)
	array(value, func(value []byte) { look(nil, value) })
}

// hear takes an error: words, an object, or a list of which the first counts.
func (s *said) hear(value []byte, depth int) {
	value = first(value)
	switch {
	case value[0] == '{':
		object(value, s.member)
		if s.find(value, depth); s.words() == "" {
			s.message = string(value)
		}
	case count(value) > 0:
		s.code = cmp.Or(s.code, string(value))
	default:
		s.message = cmp.Or(s.message, text(value))
	}
}

// excerpt is a text of bounded length and valid UTF-8.
func excerpt(b []byte) string {
	if len(b) <= messageLength {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return strings.ToValidUTF8(string(b[:messageLength]), "") + " …"
}

// title is what an HTML page says of itself.
func title(page []byte) string {
	lower := bytes.ToLower(page) // of the same length wherever the tags are, which is all that counts
	from := bytes.Index(lower, []byte("<title"))
	if from >= 0 {
		if gt := bytes.IndexByte(lower[from:], '>'); gt >= 0 && len(lower) == len(page) {
			words, _, _ := bytes.Cut(page[from+gt+1:], []byte("<"))
			return "a page instead of an answer: " + excerpt(bytes.Join(bytes.Fields(words), []byte(" ")))
		}
	}
	return "a page instead of an answer"
}

// retryAfter is how long the server asks to wait, 0 where it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	asked := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(asked, 64); err == nil && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(asked); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// passing says that a status, or a code that stands for one, may be another the next time.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status < 600 && status != http.StatusNotImplemented
}

// final tells a failure that is the same the next time, whatever status a server gives it: money that is used up, a
// model or a key that is none, a request that is too long. A limit that passes says when to come again.
func final(f *model.Failure) bool {
	words := f.Words()
	holds := func(part string) bool { return strings.Contains(words, part) }
	passes := slices.ContainsFunc(passingWords, holds)
	return slices.ContainsFunc(finalWords, holds) || !passes && slices.ContainsFunc(spentWords, holds)
}

// The words of failures, in lower case.
var (
	finalWords = []string{"insufficient_quota", "insufficient quota", "insufficient_balance", "insufficient balance",
		"insufficient_credit", "insufficient credit", "insufficient funds", "exceeded_current_quota",
		"quota_exhausted", "credit balance", "out of credit", "no credits", "requires more credits",
		"payment required", "arrear", "overdue", "account is suspended", "account_deactivated", "deactivated",
		"billing_hard_limit", "billing_not_active", "余额不足", "欠费", "充值", "model_not_found", "model not found",
		"no such model", "unknown model", "invalid_api_key", "invalid api key", "incorrect api key",
		"context_length_exceeded", "exceed_context_size", "maximum context length", "request too large",
		"request_too_large"}
	// spentWords are also those of limits that pass within the minute.
	spentWords = []string{"exceeded your current quota", "quota exceeded", "usage limit", "spending limit", "billing",
		"per day", "perday", "daily limit", "monthly"}
	passingWords = []string{"per minute", "perminute", "per second", "retry in", "try again in", "retry after",
		"retrydelay", "too many requests"}
)
