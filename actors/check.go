package actors

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// mostName bounds the names of jobs, tasks, principals and keys, in bytes. mostLabels bounds a run's labels.
const (
	mostName   = 1 << 10
	mostLabels = 16 << 10
)

// check returns why a task may not emit the body. Only the run reports on itself, its tasks, its children and its
// questions.
func check(body messages.Body, message string) error {
	if body == nil {
		return invalid("an event needs a body")
	}
	if k := body.Kind(); !k.TaskMaySay() {
		return invalid("a task does not say %s: return from it, or use Do, Ask or Start", k)
	}
	return storable(body, message)
}

// storable returns why no journal could hold an event, or nil: whoever gave its body gets the error.
func storable(body messages.Body, message string) error {
	if n := (messages.Event{Body: body, Message: message}).Size(); n > messages.MaxEventBytes {
		return errTooLarge(body.Kind(), n)
	}
	if !utf8.ValidString(message) {
		return invalid("the message of a %s is not UTF-8", body.Kind())
	}
	return messages.Check(body)
}

func errTooLarge(kind messages.Kind, bytes int) error {
	return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
		"a %s of %d bytes is too large: an event has %d at most", kind, bytes, messages.MaxEventBytes)
}

// queued makes the first event of a run, and checks all that a caller has given.
func (s *System) queued(j Job, o Options) (q messages.RunQueued, err error) {
	if err = s.guarded(func() (err error) { q, err = j.queued(o); return err }); err != nil {
		return q, err
	}
	labels := 0
	for name, value := range o.Labels {
		labels += len(name) + len(value)
	}
	if labels > mostLabels {
		return q, invalid("the labels take %d bytes: they may take %d", labels, mostLabels)
	}
	if len(o.Principal) > mostName || len(o.Key) > mostName || strings.ContainsRune(o.Key, 0) || !utf8.ValidString(o.Key) {
		return q, invalid("a principal and a key have at most %d bytes, and a key is text without NUL", mostName)
	}
	return q, cmp.Or(s.config.Ceilings.allows(o.Limits), storable(q, ""))
}
