package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/chat/approval"
	"github.com/seed889630bf/lastword/actors/chat/conversation"
	"github.com/seed889630bf/lastword/actors/chat/history"
	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/actors/form"
	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "chat"

// answers begins the names of the answers' texts: answer.1 and so on.
const answers = "answer"

// Auto, like an empty name of a model, leaves the choice to Config.Choose.
const Auto = "auto"

// MaxBytes bounds the message, what was said before it, and the system prompt together.
const MaxBytes = 16 << 20

// Input is the job's input. It must hold no secrets: run.queued shows it.
type Input struct {
	Message string `json:"message" form:"minLength=1"`
	// Context is the id of the conversation that the turn goes on with, or begins. Without it the turn remembers nothing.
	Context string `json:"context,omitempty" jsonschema:"id of the conversation, new or known"`
	// Earlier is what the user and the assistant said before the message, the oldest first: of a conversation that the
	// caller keeps. It takes the place of Context.
	Earlier []model.Message `json:"earlier,omitempty" form:"programs" jsonschema:"what was said before, oldest first"`
	// System is the system prompt. If it is empty, that of the conversation stands, if any.
	System string `json:"system,omitempty"`
	// Model is the server's name of the model, or [Auto].
	Model string `json:"model,omitempty" form:"maxLength=256"`
	// Tools names those of Config.Tools that the model may call; nil is all of them.
	Tools []string `json:"tools,omitzero" jsonschema:"the only ones it may call, and unasked; ask_user if you answer"`
	// Asks: the caller answers what the run asks, so the model may ask with ask_user.
	Asks bool `json:"asks,omitempty" form:"programs" jsonschema:"you answer questions: the model may ask with ask_user"`
	// Stages are understand, think and respond, each a task. Without them the model answers at once.
	Stages bool `json:"stages,omitempty"`
	// Output and Tokens are those of the stage respond; [Text] and [Authoritative] if empty.
	Output Output `json:"output,omitempty" form:"enum=text|structured,programs"`
	Tokens Tokens `json:"tokens,omitempty" form:"enum=authoritative|debug|off,programs"`
}

func (in Input) check() error {
	if err := model.CheckEarlier(in.Earlier, false); err != nil {
		return err
	}
	switch size := len(in.Message) + len(in.System) + model.Size(in.Earlier); {
	case strings.TrimSpace(in.Message) == "":
		return messages.InvalidInput("the message is empty; give a text")
	case size > MaxBytes:
		return messages.Errorf(messages.CauseLimitExceeded,
			"the message has more than %d bytes; shorten it", MaxBytes)
	case !utf8.ValidString(in.Message) || !utf8.ValidString(in.System):
		return messages.InvalidInput("the message is not UTF-8; convert it")
	case in.Context != "" && len(in.Earlier) > 0:
		return messages.InvalidInput("the conversation %.100q has what was said before; leave earlier out", in.Context)
	}
	if in.Context != "" {
		if err := conversation.CheckID(in.Context); err != nil {
			return err
		}
	}
	return in.checkStages()
}

// Config says which model answers, and with which tools.
type Config struct {
	Stream model.Stream
	// Model is the one of an input that names none: a name, or [Auto].
	Model string
	// Provider names the server in llm.started.
	Provider string
	// Choose names the model if the input names none. If Choose is nil or returns "", the server chooses.
	Choose func(ctx context.Context) (string, error)
	// Tools are those that any input may use; nil is none.
	Tools *tool.Set
	// Unattended: nobody answers. Every question is declined, and calls of tools that write fail, unless Input.Tools
	// names the tool.
	Unattended bool
	// Always has the tools that write and may always be called; nil lets nobody say so.
	Always *approval.File
	// Conversations returns those of a principal, which Input.Context may name; nil where there are none.
	Conversations func(principal string) (*conversation.Store, error)
	// Folder is where the user works; the list of conversations shows it.
	Folder string
	// Window returns how many tokens fit into the model as it is loaded; nil, or 0, is unknown. When they are nearly used
	// up, the model summarizes the oldest messages.
	Window func(ctx context.Context, model string) (tokens int)
	// Profile is what the server demands of the messages.
	Profile history.Profile
	Bounds  Bounds
	// Prompts replace instructions of the stages.
	Prompts Prompts
	// Ladder is what is known of the server's ways to keep an answer to a form; nil for nothing.
	Ladder *structured.Ladder
	// NoThoughts are fields of a request that switch the model's reasoning off: understand needs none.
	NoThoughts map[string]json.RawMessage
}

// Result is the run's result. The run is degraded if the answer is Degraded, Truncated, Filtered or without any text.
type Result struct {
	Text string `json:"text"`
	// Citations are what the answer cites of what the tools have read, in the order of the text.
	Citations []Citation `json:"citations,omitempty"`
	// Confidence is high, medium or low: what a structured answer says; medium for a text; low if Degraded. It is
	// empty without stages.
	Confidence string `json:"confidence,omitempty"`
	// Degraded says what the stages went on without.
	Degraded string `json:"degraded,omitempty"`
	Model    string `json:"model,omitempty"`
	// FinishReason is the server's, if it sent one, or denied if the user did not allow a call.
	FinishReason string `json:"finish_reason,omitempty"`
	// Truncated and Filtered: the server cut the answer for its length or its content.
	Truncated bool `json:"truncated,omitempty"`
	Filtered  bool `json:"filtered,omitempty"`
	// Usage is that of all calls of the model together.
	Usage *messages.Usage `json:"usage,omitempty"`
}

// Define defines the job. config is called for each run.
func Define(config func(in Input) (Config, error)) actors.Definition {
	return actors.Definition{Name: Name, About: messages.About{
		Title:       "Chat with a language model",
		Description: "Gives the server's language model a message and gives its answer.",
		Input:       form.Input[Input](), Models: form.ForModels[Input](), Output: form.Result[Result](), Text: "message", Asks: "asks", OpenWorld: true,
	}, New: actors.Typed(func(in Input) (actors.Job, error) {
		with, err := config(in)
		if err != nil {
			return actors.Job{}, err
		}
		return Job(in, with)
	})}
}

// Job returns the job for the input. A run whose node is gone goes on from its last step in the log; if a call of a
// tool was under way that is not idempotent, it fails with node_lost. Errors: invalid_input, limit_exceeded.
func Job(in Input, config Config) (actors.Job, error) {
	if err := in.check(); err != nil {
		return actors.Job{}, err
	}
	if config.Stream == nil {
		return actors.Job{}, messages.InvalidInput("the chat job needs Config.Stream")
	}
	if in.Context != "" && config.Conversations == nil {
		return actors.Job{}, messages.InvalidInput("there are no conversations here; leave the context out")
	}
	if err := config.Bounds.check(); err != nil {
		return actors.Job{}, err
	}
	in.Model = cmp.Or(in.Model, config.Model)
	tools, err := config.Tools.Allow(tool.All, in.Tools)
	if err != nil {
		return actors.Job{}, err
	}
	config.Tools, config.Bounds = tools, config.Bounds.orDefaults()
	if err := config.Prompts.check(); err != nil {
		return actors.Job{}, err
	}
	job := actors.Job{Name: Name, Input: in, Restart: true}
	if in.Stages {
		job.Tasks = stages(in, config)
		return job, nil
	}
	work := func(ctx context.Context, t *actors.TaskContext) error {
		return (&turn{Config: config, task: t, voice: answers}).run(ctx, in)
	}
	job.Tasks = []actors.Task{{Name: "turn", Run: work, Policy: supervision.Policy{Attempts: 1}}}
	return job, nil
}
