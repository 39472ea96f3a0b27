package structured

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// maxShown bounds the bytes of a rejected answer, and of its problems, that the model sees: both take room in its
// context.
const maxShown = 2 << 10

// next returns the request of the next attempt. It describes the form at every level, because some servers silently
// ignore a response_format.
func (q *question) next() model.Request {
	r := q.request
	r.Format, r.Tools, r.Choice = nil, nil, ""
	r.Messages = append(q.instructed(), q.feedback()...)
	name, schema := q.options.Name, q.form.text
	switch q.report.Level {
	case Strict, Loose:
		r.Format = &model.Format{Name: name, Schema: schema, Strict: q.report.Level == Strict}
	case Object:
		r.Format = &model.Format{}
	case Call:
		r.Tools = []model.Tool{{Name: name, Description: "Takes the answer.", Parameters: schema}}
		r.Choice = name
	}
	if q.last != nil {
		r.Temperature = cooler(q.request.Temperature, q.reasks)
	}
	return r
}

// cooler lowers the temperature with each rejected answer, to 0 for the last attempt.
func cooler(t *float64, left int) *float64 {
	const warm = 0.4 // less than any server's default
	if t == nil {
		t = new(warm)
	}
	if left == 0 {
		return new(0.0)
	}
	return new(*t / 2)
}

// instructed adds the form to the instructions, for a server that does not enforce it.
func (q *question) instructed() []model.Message {
	words := "Answer with one JSON object and nothing else: no words around it, no fence. It has these fields, all of " +
		"them, in this order. Its JSON Schema:\n" + string(q.form.text)
	if q.report.Level == Call {
		words = "Give the answer by calling the tool " + q.options.Name + " once. The JSON Schema of its arguments:\n" +
			string(q.form.text)
	}
	list := slices.Clone(q.request.Messages)
	if len(list) > 0 && list[0].Role == model.System {
		list[0].Content += "\n\n" + words
		return list
	}
	return slices.Insert(list, 0, model.Message{Role: model.System, Content: words})
}

// feedback shows the model its last answer and the problems. It omits an answer that was too long, because the next
// one needs the room.
func (q *question) feedback() []model.Message {
	if q.last == nil {
		return nil
	}
	if q.last.long || q.last.open || q.last.cut() {
		words := "Your answer was too long and was cut. Think briefly and answer again, with at most half as many words in " +
			"every field and half as many items in every list."
		if q.reasks == 0 {
			words = "Your answers were too long and were cut. Do not think, and answer again with one short sentence in every " +
				"field and at most two items in every list."
		}
		return []model.Message{{Role: model.User, Content: words}}
	}
	written := excerpt(q.last.written())
	wrong := fmt.Sprintf("Your answer was rejected:\n- %s\nReturn only the corrected JSON object.",
		excerpt(strings.Join(q.report.Problems, "\n- ")))
	if written == "" {
		return []model.Message{{Role: model.User, Content: wrong}}
	}
	return []model.Message{{Role: model.Assistant, Content: written}, {Role: model.User, Content: wrong}}
}

// excerpt returns the beginning of a text, made neutral: a model may have been tricked into writing tokens that end
// its own turn.
func excerpt(s string) string {
	return model.Neutral(strings.ToValidUTF8(s[:min(len(s), maxShown)], ""))
}
