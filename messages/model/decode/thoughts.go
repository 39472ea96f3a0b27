package decode

import "github.com/seed889630bf/lastword/messages/model"

// Dialect says how a model marks its thoughts in the text of its answer.
type Dialect string

const (
	// Auto knows every form. It is for any model whose template does not open the thought by itself.
	Auto Dialect = ""
	// None leaves the text as it is.
	None Dialect = "none"
	// Implicit answers begin inside a thought, which only </think> ends: the template has opened it. All other forms
	// are known as well.
	Implicit Dialect = "implicit"
	// Tags are <think>, <thinking>, <thought>, <reasoning>, <REASONING_SCRATCHPAD> and <mm:think>, and no other form.
	Tags Dialect = "tags"
	// Mistral is [THINK] … [/THINK].
	Mistral Dialect = "mistral"
	// Gemma is <|channel>thought … <channel|> and <|think|> … <|/think|>.
	Gemma Dialect = "gemma"
	// Harmony is <|channel|>analysis<|message|> … <|end|>, with <|channel|>final<|message|> … <|return|> as the text.
	Harmony Dialect = "harmony"
)

// Thoughts parts an answer into text and thoughts.
type Thoughts struct{}

// NewThoughts is a splitter for one answer. An unknown dialect is Auto.
func NewThoughts(d Dialect) *Thoughts { return &Thoughts{} }

// Push takes a piece of the answer's text (delta.content). It emits model.Text, model.Thought and model.ThoughtDone.
func (t *Thoughts) Push(text string, emit func(model.Part)) { emit(model.Text{Text: text}) }

// Field takes a piece of the thought from a field of the server's own (reasoning_content, reasoning). The next text
// ends the thought. From the first such piece on text is text: no tag in it is looked for.
func (t *Thoughts) Field(text string, emit func(model.Part)) {}

// Close emits what was held back and ends the thought that is open, if any; open says that nothing had ended it.
func (t *Thoughts) Close(emit func(model.Part)) (open bool) { return false }

// Stray says that a closing tag came for a thought that nothing had opened: the template did, and [Implicit] is the
// dialect to ask with the next time.
func (t *Thoughts) Stray() bool { return false }
