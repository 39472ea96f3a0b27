package structured

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// answer is the result of one attempt.
type answer struct {
	text, thought, arguments strings.Builder
	end                      model.End
	clean                    []byte // the JSON object in the text or the arguments, repaired; nil if there is none
	long                     bool   // longer than maxAnswer; the rest was not read
	open                     bool   // the object is incomplete, or the tokens ran out
}

// call makes one attempt. Its error is the stream's.
func (q *question) call(ctx context.Context) (*answer, error) {
	a := new(answer)
	q.live.begin()
	ended, err := a.read(q.stream(ctx, q.next()), q.live.push)
	a.clean, a.open = q.live.close()
	q.count(a.end)
	if err == nil && !ended && !a.long {
		err = messages.Errorf(messages.CauseTransportClosed, "the model's stream stopped without an end")
	}
	return a, err
}

// read takes parts until the answer ends or is too long.
func (a *answer) read(parts func(func(model.Part, error) bool), live func(text string)) (ended bool, failed error) {
	size := 0
	for part, err := range parts {
		if err != nil {
			failed = err
		}
		size += a.take(part, live)
		if end, ok := part.(model.End); ok {
			a.end, ended = end, true
		}
		if a.long = size > maxAnswer; a.long {
			break
		}
	}
	return ended, failed
}

// take adds the part to the answer, and returns its size in bytes.
func (a *answer) take(part model.Part, live func(text string)) int {
	switch p := part.(type) {
	case model.Text:
		a.text.WriteString(p.Text)
		live(p.Text)
		return len(p.Text)
	case model.Thought:
		a.thought.WriteString(p.Text)
		return len(p.Text)
	case model.CallDelta:
		if p.Number == 0 {
			a.arguments.WriteString(p.Arguments)
			live(p.Arguments)
		}
		return len(p.Arguments)
	}
	return 0
}

// count adds what an attempt has cost to the report.
func (q *question) count(end model.End) {
	if end.Model != "" {
		q.report.Model = end.Model
	}
	read, written := end.Usage.Tokens()
	q.report.Read, q.report.Written = q.report.Read+int(read), q.report.Written+int(written)
}

// usedAll reports whether the answer used all its tokens, whatever its finish_reason.
func (a *answer) usedAll(most int) bool {
	_, written := a.end.Usage.Tokens()
	return most > 0 && written >= int64(most)
}

// written returns the answer as the model wrote it: the arguments of the tool call, or the text.
func (a *answer) written() string {
	switch {
	case len(a.end.Calls) > 0:
		return a.end.Calls[0].Arguments
	case a.arguments.Len() > 0:
		return a.arguments.String()
	}
	return a.text.String()
}

// documents lists the candidates for the object, the likeliest last. Without any text they come from the thoughts,
// because a server's grammar may apply to the thoughts too.
func (a *answer) documents() []found {
	list := objectsIn(a.written())
	if strings.TrimSpace(a.written()) == "" {
		list = objectsIn(a.thought.String())
		for i := range list {
			list[i].thought = true
		}
	}
	if a.clean != nil {
		list = append([]found{{doc: a.clean, repaired: true}}, list...)
	}
	return list
}

// found is a JSON document in an answer, with where it was.
type found struct {
	doc []byte
	// repaired: it differs from the model's text. thought: it was in a thought.
	repaired, thought bool
}

// maxObjects bounds the positions in an answer where an object is tried.
const maxObjects = 8

// objectsIn lists the complete objects of a text in order. Fences, other text and thoughts may surround them.
func objectsIn(text string) []found {
	var list []found
	trimmed := strings.TrimSpace(text)
	for from, looks := 0, 0; looks < maxObjects; looks++ {
		start := objectAt(trimmed, from)
		if start < 0 {
			break
		}
		var doc json.RawMessage
		d := json.NewDecoder(strings.NewReader(trimmed[start:]))
		if err := d.Decode(&doc); err != nil {
			from = start + 1
			continue
		}
		list = append(list, found{doc: doc})
		from = start + len(doc)
	}
	return list
}

// objectAt finds the next opening brace that is followed by a key or a closing brace, or returns -1.
func objectAt(s string, from int) int {
	for i := from; i < len(s); i++ {
		if s[i] != '{' {
			continue
		}
		rest := strings.TrimLeft(s[i+1:], " \t\r\n")
		if rest != "" && (rest[0] == '"' || rest[0] == '}') {
			return i
		}
	}
	return -1
}
