package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Failure is an error that the server reported.
type Failure struct {
	Code string `json:"code,omitempty"` // the server's, or "html", "json" and so on for a body that is not a stream
	// Message is the server's own words, without secrets.
	Message string `json:"message"`
	// Type is the server's kind of error. Param is the member of the request that caused it.
	Type  string `json:"type,omitempty"`
	Param string `json:"param,omitempty"`
	// RetryAfterMS is how long the server asks to wait, in milliseconds; 0 if it does not ask.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
	// RequestID is the server's name for the request.
	RequestID string `json:"request_id,omitempty"`
}

// Words returns all texts of the failure, in lower case.
func (f *Failure) Words() string {
	return strings.ToLower(strings.Join([]string{f.Code, f.Type, f.Param, f.Message}, " "))
}

func (f *Failure) message(status int) string {
	if status >= 400 {
		return "http " + strconv.Itoa(status) + ": " + f.Message
	}
	return f.Message
}

// class returns the HTTP status of the server's failure. An error within a stream has it as its code, or in words. It
// is 0 if nothing tells it.
func (e Evidence) class() int {
	if e.Status >= 400 || e.Failure == nil {
		return e.Status
	}
	status, _ := strconv.Atoi(e.Failure.Code)
	kind := strings.ToLower(e.Failure.Code + " " + e.Failure.Type)
	switch {
	case status >= 400 && status < 600:
		return status
	case holdsAny(kind, []string{"rate_limit", "ratelimit", "too_many_requests", "resource_exhausted"}):
		return 429
	case holdsAny(kind, []string{"overloaded", "slow_down", "unavailable"}):
		return 503
	case holdsAny(kind, []string{"authentication", "invalid_api_key", "permission"}):
		return 401
	}
	return 0
}

// provider returns what the server said about its failure.
func (e Evidence) provider() (p messages.Provider) {
	if f := e.Failure; f != nil {
		p = messages.Provider{Status: e.class(), Code: f.Code, RetryAfterMS: f.RetryAfterMS, RequestID: f.RequestID}
		if _, err := strconv.Atoi(f.Code); err == nil || slices.Contains(ownCodes, f.Code) {
			p.Code = ""
		}
	}
	return p
}

// ownCodes are the codes of failures that this side names, because the server sent no error.
var ownCodes = []string{"html", "json", "encoding", "protocol", "text"}

// retryable reports whether the same request may succeed later.
func (e Evidence) retryable(cause messages.Code) bool {
	switch cause {
	case messages.CauseTransportClosed, messages.CauseEmptyCompletion, messages.CauseStalled:
		return true
	case messages.CauseProviderError:
		return e.Failure != nil && RetryableStatus(e.class()) && !e.Failure.permanent()
	}
	return false
}

// RetryableStatus reports whether another attempt may get another status.
func RetryableStatus(status int) bool {
	switch status {
	case 408, 425, 429:
		return true
	}
	return status >= 500 && status < 600 && status != 501
}

// permanent reports whether a retry cannot help, whatever the status: no money left, an unknown model or key, a request
// that is too long. Rate limits are not permanent.
func (f *Failure) permanent() bool {
	words := f.Words()
	return holdsAny(words, permanentWords) || !holdsAny(words, limitWords) && holdsAny(words, quotaWords)
}

// Parts of error messages, in lower case.
var (
	permanentWords = []string{"insufficient_quota", "insufficient quota", "insufficient_balance", "insufficient balance",
		"insufficient_credit", "insufficient credit", "insufficient funds", "exceeded_current_quota",
		"quota_exhausted", "credit balance", "out of credit", "no credits", "requires more credits",
		"payment required", "arrear", "overdue", "account is suspended", "account_deactivated", "deactivated",
		"billing_hard_limit", "billing_not_active", "余额不足", "欠费", "充值", "model_not_found", "model not found",
		"no such model", "unknown model", "invalid_api_key", "invalid api key", "incorrect api key",
		"context_length_exceeded", "exceed_context_size", "maximum context length", "request too large", "request_too_large"}
	// quotaWords also occur in the errors of rate limits.
	quotaWords = []string{"exceeded your current quota", "quota exceeded", "usage limit", "spending limit", "billing",
		"per day", "perday", "daily limit", "monthly"}
	limitWords = []string{"per minute", "perminute", "per second", "retry in", "try again in", "retry after",
		"retrydelay", "too many requests"}
)
