package llm

import (
	"iter"
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/redact"
)

// quieted is one answer on its way to the consumer.
type quieted struct {
	secrets   *redact.Secrets
	text      *redact.Stream
	thoughts  map[int]*redact.Stream
	arguments map[int]*redact.Stream
	yield     func(model.Part, error) bool
	left      bool
}

// quietly gives the answer without the secrets, before anyone counts its bytes.
func (c *Client) quietly(answer iter.Seq2[model.Part, error]) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		s := &quieted{secrets: c.secrets, text: c.secrets.Stream(), yield: yield,
			thoughts: map[int]*redact.Stream{}, arguments: map[int]*redact.Stream{}}
		for part, err := range answer {
			if s.pass(part, err); s.left {
				return
			}
		}
	}
}

func (s *quieted) give(part model.Part, err error) {
	s.left = s.left || !s.yield(part, err)
}

func (s *quieted) pass(part model.Part, err error) {
	switch p := part.(type) {
	case model.Text:
		s.say(s.text.Push(p.Text))
	case model.Thought:
		s.think(p.Number, s.of(s.thoughts, p.Number).Push(p.Text))
	case model.ThoughtDone:
		s.think(p.Number, s.of(s.thoughts, p.Number).Close())
		p.Text, p.Type = s.secrets.Text(p.Text), s.secrets.Text(p.Type)
		s.give(p, err)
	case model.CallDelta:
		p.ID, p.Name = s.secrets.Text(p.ID), s.secrets.Text(p.Name)
		p.Arguments = s.of(s.arguments, p.Number).Push(p.Arguments)
		s.give(p, err)
	case model.End:
		s.end(p, err)
	default:
		s.give(part, err)
	}
}

func (s *quieted) end(end model.End, err error) {
	s.say(s.text.Close())
	for _, number := range slices.Sorted(maps.Keys(s.thoughts)) {
		s.think(number, s.thoughts[number].Close())
	}
	for _, number := range slices.Sorted(maps.Keys(s.arguments)) {
		if rest := s.arguments[number].Close(); rest != "" {
			s.give(model.CallDelta{Number: number, Arguments: rest}, nil)
		}
	}
	for i := range end.Calls {
		call := &end.Calls[i]
		call.ID, call.Name = s.secrets.Text(call.ID), s.secrets.Text(call.Name)
		call.Arguments = s.secrets.Text(call.Arguments)
	}
	s.give(end, err)
}

func (s *quieted) of(all map[int]*redact.Stream, number int) *redact.Stream {
	if all[number] == nil {
		all[number] = s.secrets.Stream()
	}
	return all[number]
}

func (s *quieted) say(text string) {
	if text != "" {
		s.give(model.Text{Text: text}, nil)
	}
}

func (s *quieted) think(number int, text string) {
	if text != "" {
		s.give(model.Thought{Number: number, Text: text}, nil)
	}
}
