package llm

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
)

// failureIn is what a payload says of a failure: a frame of an answer, or the body beside a status.
func failureIn(payload []byte) *model.Failure {
	payload = bytes.TrimSpace(payload)
	if len(payload) > 0 && payload[0] == '<' {
		return &model.Failure{Code: "html", Message: title(payload)}
	}
	var inner, outer said
	whole := object(payload, func(key, value []byte) {
		switch {
		case string(key) != "error":
			outer.member(string(key), value)
		case value[0] == '{':
			object(value, func(key, value []byte) { inner.member(string(key), value) })
			inner.message = cmp.Or(inner.message, excerpt(value))
		case !none(value):
			inner.message = cmp.Or(text(value), string(value))
		}
	})
	if !whole {
		return &model.Failure{Message: excerpt([]byte(cmp.Or(text(payload), string(payload))))}
	}
	return &model.Failure{
		Code:    cmp.Or(inner.code, inner.kind, outer.code, outer.kind),
		Message: excerpt([]byte(cmp.Or(inner.message, outer.message, string(payload)))),
	}
}

// said is what the members of an object say of a failure.
type said struct{ message, code, kind string }

func (s *said) member(key string, value []byte) {
	switch key {
	case "message", "detail", "msg":
		s.message = cmp.Or(text(value), s.message)
	case "code":
		if s.code = text(value); s.code == "" && !none(value) {
			s.code = string(value)
		}
	case "type", "error_type":
		s.kind = text(value)
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
