package llm

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages/model"
)

// keyMark, in brackets, replaces the key in texts.
const keyMark = "key"

// redact removes secrets from texts in which a server describes itself or a failure. A key that is too short to be a
// secret is removed only where it stands alone, because it may be part of other words.
func (c *Client) redact(text string) string {
	text = c.secrets.Text(text)
	if c.key == "" || !strings.Contains(text, c.key) {
		return text
	}
	var b strings.Builder
	for last := byte(0); ; {
		before, after, found := strings.Cut(text, c.key)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if before != "" {
			last = before[len(before)-1]
		}
		if inWord(last) || after != "" && inWord(after[0]) {
			b.WriteString(c.key)
		} else {
			b.WriteString("[" + keyMark + "]")
		}
		last, text = c.key[len(c.key)-1], after
	}
}

func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// failureIn redacts the text before failureIn clips it, because clipping may cut a secret in two.
func (c *Client) failureIn(payload []byte) *model.Failure {
	return failureIn([]byte(c.redact(string(payload))), deepestQuote)
}

// redactError returns the error without secrets, or the cause of ctx.
func (c *Client) redactError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err == nil || c.redact(err.Error()) == err.Error() {
		return err
	}
	return unreachable("%s", c.redact(err.Error()))
}

// redactor removes the secrets from one answer. It keeps one stream per text, thought and tool call, because a secret
// may be split over several parts.
type redactor struct {
	secrets   *redact.Secrets
	text      *redact.Stream
	thoughts  map[int]*redact.Stream
	arguments map[int]*redact.Stream
	yield     func(model.Part, error) bool
	abandoned bool // the consumer has stopped reading
}

func (s *redactor) emit(part model.Part, err error) { s.abandoned = s.abandoned || !s.yield(part, err) }

// pass removes secrets from a part. A secret may span several pieces, so the end of a piece may wait for the next one. It
// returns false once the consumer has stopped reading.
func (s *redactor) pass(part model.Part, err error) bool {
	switch p := part.(type) {
	case model.Text:
		s.emitText(s.text.Push(p.Text))
	case model.Thought:
		s.emitThought(p.Number, s.of(s.thoughts, p.Number).Push(p.Text))
	case model.ThoughtDone:
		s.emitThought(p.Number, s.of(s.thoughts, p.Number).Close())
		p.Text, p.Type = s.secrets.Text(p.Text), s.secrets.Text(p.Type)
		s.emit(p, err)
	case model.CallDelta:
		p.ID, p.Name = s.secrets.Text(p.ID), s.secrets.Text(p.Name)
		p.Arguments = s.of(s.arguments, p.Number).Push(p.Arguments)
		s.emit(p, err)
	case model.End:
		s.end(p, err)
	default:
		s.emit(part, err)
	}
	return !s.abandoned
}

// end passes on what still waits, and then the end itself.
func (s *redactor) end(end model.End, err error) {
	s.emitText(s.text.Close())
	for _, number := range slices.Sorted(maps.Keys(s.thoughts)) {
		s.emitThought(number, s.thoughts[number].Close())
	}
	for _, number := range slices.Sorted(maps.Keys(s.arguments)) {
		if rest := s.arguments[number].Close(); rest != "" {
			s.emit(model.CallDelta{Number: number, Arguments: rest}, nil)
		}
	}
	for i := range end.Calls {
		call := &end.Calls[i]
		call.ID, call.Name = s.secrets.Text(call.ID), s.secrets.Text(call.Name)
		call.Arguments, call.Extra = s.secrets.Text(call.Arguments), s.secrets.Text(call.Extra)
	}
	end.Extra = s.secrets.Text(end.Extra)
	s.emit(end, err)
}

// of returns the stream of one thought or call, and creates it at the first piece.
func (s *redactor) of(all map[int]*redact.Stream, number int) *redact.Stream {
	if all[number] == nil {
		all[number] = s.secrets.Stream()
	}
	return all[number]
}

func (s *redactor) emitText(text string) {
	if text != "" {
		s.emit(model.Text{Text: text}, nil)
	}
}

func (s *redactor) emitThought(number int, text string) {
	if text != "" {
		s.emit(model.Thought{Number: number, Text: text}, nil)
	}
}
