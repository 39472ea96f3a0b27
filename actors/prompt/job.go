package prompt

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "prompt"

// stream is the name of the answer's text in the run's events.
const stream = "answer"

// Config says which model answers.
type Config struct {
	Stream model.Stream
	// Model is the model for an input that names none: a name, or [Auto].
	Model string
	// Provider is the server's name in llm.started.
	Provider string
	// Choose names the model if the input names none. If Choose is nil or returns "", the server chooses.
	Choose func(ctx context.Context) (string, error)
}

// Result is the result of the run. The run is degraded if the answer is Truncated or Filtered, or has neither text
// nor calls.
type Result struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
	// FinishReason is the server's finish_reason, if it sent one.
	FinishReason string `json:"finish_reason,omitempty"`
	// Truncated and Filtered: the server cut the answer for its length or its content.
	Truncated bool            `json:"truncated,omitempty"`
	Filtered  bool            `json:"filtered,omitempty"`
	Usage     *messages.Usage `json:"usage,omitempty"`
	Thoughts  []call.Thought  `json:"thoughts,omitempty"`
	// Calls are calls of the caller's functions. An answer that was cut has none.
	Calls []model.ToolCall `json:"calls,omitempty" form:"programs"`
	// ThoughtsIn and Extra belong to the answer: its next request needs them.
	ThoughtsIn string `json:"thoughts_in,omitempty" form:"programs"`
	Extra      string `json:"extra,omitempty" form:"programs"`
}

// Define returns the definition of the job. It calls config for each run.
func Define(config func() (Config, error)) actors.Definition {
	var wrong error
	if config == nil {
		wrong = messages.InvalidInput("Define needs a function that returns the Config of a prompt")
	}
	return actors.Definition{Name: Name, JobSpec: messages.JobSpec{
		Title:       "Ask a language model",
		Description: "Sends a text to the server's language model and gives its answer.",
		Input:       jobschema.Input[Input](), ModelInput: jobschema.ForModels[Input](), Output: jobschema.Result[Result](), PromptField: "text", OpenWorld: true,
	}, Wrong: wrong, New: actors.Typed(func(in Input) (actors.Job, error) {
		with, err := config()
		if err != nil {
			return actors.Job{}, err
		}
		return Job(in, with)
	})}
}

// Job returns the job for the input. Errors: invalid_input, limit_exceeded.
func Job(in Input, config Config) (actors.Job, error) {
	if err := in.check(); err != nil {
		return actors.Job{}, err
	}
	if config.Stream == nil {
		return actors.Job{}, messages.InvalidInput("the prompt job needs Config.Stream")
	}
	shape, err := in.shape()
	if err != nil {
		return actors.Job{}, err
	}
	in.Model = cmp.Or(in.Model, config.Model)
	respond := func(ctx context.Context, t *actors.TaskContext) error { return config.respond(ctx, t, in, shape) }
	return actors.Job{Name: Name, Input: in, Models: []string{in.Model}, Tasks: []actors.Task{
		{Name: "respond", Run: respond, Policy: supervision.Policy{Attempts: 1}},
	}}, nil
}

// respond asks the model once, checks the form of the answer, and makes it the result.
func (c Config) respond(ctx context.Context, t *actors.TaskContext, in Input, shape *validate.Schema) error {
	r := in.request()
	if r.Model == "" && c.Choose != nil {
		name, err := c.Choose(ctx)
		if err != nil {
			return err
		}
		r.Model = name
	}
	a, err := call.Respond(ctx, t, c.Stream, r, call.Label{Name: stream, Provider: c.Provider})
	if err != nil {
		return err
	}
	if shape != nil && len(a.Calls) == 0 {
		if problems := shape.Problems([]byte(a.Text)); problems != nil {
			return messages.Errorf(messages.CauseInvalidOutput, "the answer is not of the form: %s", problems[0])
		}
	}
	result := resultOf(a, r)
	t.Summarize(result.summary())
	return t.Result(result, result.Truncated || result.Filtered || result.Text == "" && result.Calls == nil)
}

func resultOf(a call.Answer, r model.Request) Result {
	reason := a.End.Reason()
	if reason.Cut() {
		a.Calls = nil
	}
	return Result{Text: a.Text, Model: cmp.Or(a.End.Model, r.Model), FinishReason: a.End.FinishReason(),
		Truncated: reason == model.Length, Filtered: reason == model.Filter, Usage: a.End.Usage, Thoughts: a.Thoughts, Calls: a.Calls,
		ThoughtsIn: a.End.ThoughtsIn, Extra: a.End.Extra}
}

// summary returns the words with which the task describes its result.
func (r Result) summary() string {
	summary := fmt.Sprintf("%d bytes of text", len(r.Text))
	switch {
	case r.Truncated:
		summary += ", cut for its length"
	case r.Filtered:
		summary += ", filtered"
	}
	switch n := len(r.Thoughts); n {
	case 0:
	case 1:
		summary += ", and a thought"
	default:
		summary += fmt.Sprintf(", and %d thoughts", n)
	}
	if n := len(r.Calls); n > 0 {
		summary += fmt.Sprintf(", calls of functions: %d", n)
	}
	return summary
}
