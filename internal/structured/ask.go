package structured

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Options configure Ask. The zero value is ready for use.
type Options struct {
	// Name is the name of the form, in letters and underscores; "" means "answer".
	Name string
	// Ladder is what is known about the server; nil starts at the top.
	Ladder *Ladder
	// Reasks bounds how often Ask asks again after a rejected answer; 0 means twice, and a negative number never.
	Reasks int
	// Field, unless nil, receives the strings of the object as they arrive, with paths such as "purpose" and
	// "notes.0.text". Pieces are only ever added: where a later attempt differs from an earlier one, only the result
	// has its text.
	Field func(path, piece string)
	// Attempt, unless nil, is called before each call of the model.
	Attempt func(Attempt)
}

// Attempt is one call of the model.
type Attempt struct {
	Number int // from 1
	Level  Level
	// Rejected lists the problems of the previous answer; nil if there was none.
	Rejected []string
}

// Report says how Ask got the answer, or how it failed.
type Report struct {
	Attempts int
	Level    Level  // of the last attempt
	Model    string // the model that answered last, if the server named it
	// Read and Written count the tokens of all attempts, if the server counted them.
	Read, Written int
	// Repaired: commas or characters were corrected. Thought: the object was in a thought, and the answer was empty.
	Repaired, Thought bool
	// Problems are what was wrong with the last answer, if it was rejected.
	Problems []string
	// Overflow: the server said that the request was longer than the model's context.
	Overflow bool
}

// maxAnswer bounds the text of one answer, in bytes.
const maxAnswer = 1 << 20

const cutProblem = "it was cut for its length"

// checked is a value with rules that a schema cannot express.
type checked interface {
	// Problems lists what the model must correct; nil if nothing.
	Problems() []string
}

// Ask asks the model to answer r with a T: a struct of strings, numbers, booleans, structs, and slices of these. T
// may implement [checked]. Ask sets the Format, Tools and Choice of r. Its error is the stream's, or invalid_output
// if every answer was rejected, or says what a T must not contain.
func Ask[T any](ctx context.Context, stream model.Stream, r model.Request, o Options) (T, Report, error) {
	var value T
	f, err := formOf(reflect.TypeFor[T]())
	if err != nil {
		return value, Report{}, err
	}
	q := newQuestion(stream, r, o, f)
	q.take = into(&value)
	if err := q.ask(ctx); err != nil {
		return *new(T), q.report, err
	}
	return value, q.report, nil
}

// Read decodes a T from an answer that came without Ask. The problems are those that Ask would send back to the
// model.
func Read[T any](text string) (value T, problems []string, err error) {
	f, err := formOf(reflect.TypeFor[T]())
	if err != nil {
		return value, nil, err
	}
	q := &question{form: f, take: into(&value)}
	problems = q.choose(objectsIn(text))
	return value, problems, nil
}

// into returns a function that decodes a document into the value, or lists the document's problems.
func into[T any](value *T) func(doc []byte) (problems []string) {
	return func(doc []byte) []string {
		var fresh T
		if err := json.Unmarshal(doc, &fresh); err != nil {
			return []string{err.Error()}
		}
		*value = fresh
		if c, ok := any(value).(checked); ok {
			return c.Problems()
		}
		return nil
	}
}

// question is one use of Ask. One goroutine uses it.
type question struct {
	stream  model.Stream
	request model.Request
	options Options
	form    *shape
	take    func(doc []byte) (problems []string)
	report  Report
	live    *live
	reasks  int
	last    *answer // the last answer, if it was rejected
}

// newQuestion fills in the defaults. The ladder decides how the form is asked for.
func newQuestion(stream model.Stream, r model.Request, o Options, f *shape) *question {
	o.Name, o.Ladder = cmp.Or(o.Name, "answer"), cmp.Or(o.Ladder, new(Ladder))
	q := &question{stream: stream, request: r, options: o, form: f, reasks: cmp.Or(o.Reasks, 2)}
	q.live = newLive(f.fields, o.Field)
	q.report.Level = q.options.Ladder.Level()
	return q
}

// ask calls the model until an answer is accepted or the attempts are used up.
func (q *question) ask(ctx context.Context) error {
	for {
		q.report.Attempts++
		if q.options.Attempt != nil {
			q.options.Attempt(Attempt{Number: q.report.Attempts, Level: q.report.Level, Rejected: q.report.Problems})
		}
		a, err := q.call(ctx)
		if err != nil && !a.end.Verdict.Truncated {
			q.report.Overflow = a.end.Evidence.Overflows()
			if refuses(q.report.Level, a.end.Evidence) {
				q.report.Level = q.options.Ladder.below(q.report.Level)
				continue
			}
			return err
		}
		q.options.Ladder.learn(q.report.Level)
		if q.judge(a) {
			return nil
		}
		if a.end.Verdict.Filtered || q.reasks <= 0 {
			return q.rejected()
		}
		q.reasks--
		q.last = a
	}
}

// rejected returns the error of the last answer. The report has at least one problem of it.
func (q *question) rejected() error {
	p := q.report.Problems
	more := ""
	if len(p) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(p)-1)
	}
	return messages.Errorf(messages.CauseInvalidOutput,
		"the model's answer does not match the requested form after %d attempts: %s%s", q.report.Attempts, p[0], more)
}

// judge accepts the answer, or puts its problems into the report.
func (q *question) judge(a *answer) bool {
	q.report.Problems = nil
	switch {
	case a.long:
		q.report.Problems = []string{fmt.Sprintf("it is longer than %d bytes", maxAnswer)}
	case a.end.Verdict.Truncated:
		q.report.Problems = []string{cutProblem}
	case a.end.Verdict.Filtered:
		q.report.Problems = []string{"the server cut it for its content"}
	default:
		q.report.Problems = q.choose(a.documents())
		if a.open = a.open || a.usedAll(q.request.MaxTokens); a.open && q.report.Problems != nil {
			q.report.Problems = []string{cutProblem}
		}
	}
	return q.report.Problems == nil
}

// choose accepts the last document that matches the form, since earlier ones may be drafts.
func (q *question) choose(list []found) []string {
	if len(list) == 0 {
		return []string{"it holds no JSON object"}
	}
	var worst []string
	for i := len(list) - 1; i >= 0; i-- {
		problems := q.form.schema.Problems(list[i].doc)
		if len(problems) == 0 {
			problems = q.take(list[i].doc)
		}
		if len(problems) == 0 {
			q.report.Repaired, q.report.Thought = list[i].repaired, list[i].thought
			return nil
		}
		if worst == nil || !list[i].repaired {
			worst = problems
		}
	}
	return worst
}

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
	if q.last.long || q.last.open || q.last.end.Verdict.Truncated {
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
