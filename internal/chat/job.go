package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "chat"

// answers is the prefix of the names of the answers' texts: answer.1 and so on.
const answers = "answer"

// Auto, like an empty model name, leaves the choice to Config.Choose.
const Auto = "auto"

// maxBytes bounds the sum of the message, the earlier messages and the system prompt.
const maxBytes = 16 << 20

// Input is the job's input. It must hold no secrets, because run.queued shows it.
type Input struct {
	// Message may be empty if Earlier ends with the assistant, whose words the model continues, or if there is only a
	// System prompt.
	Message string `json:"message" form:"minLength=1"`
	// Context is the id of the conversation that the turn continues or begins. Without it the turn remembers nothing.
	Context string `json:"context,omitempty" jsonschema:"id of the conversation, new or known"`
	// Earlier is the conversation before the message, the oldest message first, if the caller keeps the conversation.
	// It must be empty if there is a Context.
	Earlier []model.Message `json:"earlier,omitempty" form:"programs" jsonschema:"earlier messages, oldest first"`
	// System is the system prompt. If it is empty, the conversation's system prompt applies, if there is one.
	System string `json:"system,omitempty"`
	// Model is the server's name of the model, or [Auto].
	Model string `json:"model,omitempty" form:"maxLength=256"`
	// Extra holds further members of the turn's requests to the model, such as temperature.
	Extra map[string]json.RawMessage `json:"extra,omitempty" form:"programs" jsonschema:"more fields of the requests, such as {\"top_k\":40}"`
	// Tools names the tools of Config.Tools that the model may call; nil means all.
	Tools []string `json:"tools,omitzero" jsonschema:"the only tools that it may call, without asking; ask_user if you answer"`
	// Asks: the caller answers the run's questions, so the model may ask with ask_user.
	Asks bool `json:"asks,omitempty" form:"programs" jsonschema:"you answer questions: the model may ask with ask_user"`
	// Stages makes three tasks: understand, think and respond. Without it the model answers at once.
	Stages bool `json:"stages,omitempty"`
	// Output and Tokens apply to the stage respond; "" means [Text] and [Authoritative].
	Output output `json:"output,omitempty" form:"enum=text|structured,programs"`
	Tokens Tokens `json:"tokens,omitempty" form:"enum=authoritative|debug|off,programs"`
}

// check returns the error of an input that fits no Config: limit_exceeded for its size, else invalid_input.
func (in Input) check() error {
	if err := model.CheckEarlier(in.Earlier, false); err != nil {
		return err
	}
	switch size := len(in.Message) + len(in.System) + model.Size(in.Earlier); {
	case strings.TrimSpace(in.Message) == "" && !in.continues():
		return messages.InvalidInput("the message is empty; give a text")
	case size > maxBytes:
		return messages.LimitExceeded("the message has more than %d bytes; shorten it", maxBytes)
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

// continues reports whether there is no message because the model goes on with what the caller keeps.
func (in Input) continues() bool {
	return in.Message == "" && in.Context == "" && model.Continues(in.System, in.Earlier) &&
		(len(in.Earlier) == 0 || conversation.LastUser(in.Earlier) >= 0)
}

// Config says which model answers, and which tools it may call.
type Config struct {
	Stream model.Stream
	// Model is the model for an input that names none: a name, or [Auto].
	Model string
	// Provider is the server's name in llm.started.
	Provider string
	// Choose names the model if the input names none. If Choose is nil or returns "", the server chooses.
	Choose func(ctx context.Context) (string, error)
	// Tools are the tools that inputs may use; nil means none.
	Tools *tool.Set
	// List, unless nil, returns the tools instead of Tools, at the beginning of a turn: it may wait until servers have
	// started. missing says, in lines, which tools cannot be used, and why.
	List func(ctx context.Context) (set *tool.Set, missing, err error)
	// Unattended: nobody answers. Every question is declined, and calls of tools that write fail, unless Input.Tools
	// names the tool.
	Unattended bool
	// Always lists the writing tools that may always be called; nil lets nobody add one.
	Always *tool.Approvals
	// Conversations returns the conversations of a principal, for Input.Context; nil if there are none.
	Conversations func(principal string) (*conversation.Store, error)
	// Folder is the user's working folder, for the list of conversations.
	Folder string
	// Window returns how many tokens fit into the loaded model; nil or 0 means unknown. When they are nearly used up,
	// the model summarizes the oldest messages.
	Window func(ctx context.Context, model string) (tokens int)
	// Profile is what the server requires of the messages.
	Profile conversation.Profile
	Bounds  Bounds
	// Structured is the strictest way to get JSON that the server is known to have, as "provider check" names it; ""
	// if nothing is known.
	Structured string
	// NoThoughts are members of a request that disable the model's reasoning, which understand does not need.
	NoThoughts map[string]json.RawMessage
}

// Result is the result of the run. The run is degraded if the answer is Degraded, Truncated or Filtered, or has no
// text.
type Result struct {
	Text string `json:"text"`
	// Citations are the names that the answer cites, in the order of the text.
	Citations []Citation `json:"citations,omitempty"`
	// Confidence is high, medium or low: taken from a structured answer; medium for a text; low if Degraded. It is ""
	// without stages.
	Confidence string `json:"confidence,omitempty"`
	// Degraded says what the stages went on without.
	Degraded string `json:"degraded,omitempty"`
	Model    string `json:"model,omitempty"`
	// FinishReason is the server's finish_reason, if it sent one, or denied if the user did not allow a call.
	FinishReason string `json:"finish_reason,omitempty"`
	// Truncated and Filtered: the server cut the answer for its length or its content.
	Truncated bool `json:"truncated,omitempty"`
	Filtered  bool `json:"filtered,omitempty"`
	// Usage is the sum over all model calls.
	Usage *messages.Usage `json:"usage,omitempty"`
}

// Define returns the definition of the job. It calls config for each run.
func Define(config func(in Input) (Config, error)) actors.Definition {
	return actors.Definition{Name: Name, JobSpec: messages.JobSpec{
		Title:       "Chat with a language model",
		Description: "Gives the server's language model a message and gives its answer.",
		Input:       jobschema.Input[Input](), ModelInput: jobschema.ForModels[Input](), Output: jobschema.Result[Result](),
		PromptField: "message", AskField: "asks", OpenWorld: true, Messages: true,
	}, New: actors.Typed(func(in Input) (actors.Job, error) {
		with, err := config(in)
		if err != nil {
			return actors.Job{}, err
		}
		return Job(in, with)
	})}
}

// Job returns the job for the input. A run whose node was lost continues after its last step in the log. If a tool
// that is not idempotent was under way, it fails with node_lost. Errors: invalid_input, limit_exceeded.
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
	if config.List == nil {
		tools, err := config.Tools.Allow(tool.All, in.Tools)
		if err != nil {
			return actors.Job{}, err
		}
		config.Tools = tools
	}
	config.Bounds = config.Bounds.orDefaults()
	job := actors.Job{Name: Name, Input: in, Restart: true, Messages: true, Conversation: in.Context, Models: []string{in.Model}}
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
