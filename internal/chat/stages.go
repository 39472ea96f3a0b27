package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/supervision"
)

// output is the form of the last answer in stages.
type output string

const (
	text             output = "text"
	structuredOutput output = "structured" // JSON, whose response is the answer
)

// Tokens says how the text of the answer arrives in stages.
type Tokens string

const (
	authoritative Tokens = "authoritative" // as the model writes them
	debug         Tokens = "debug"         // whole; in addition the model's output for NAME streams as NAME.debug
	off           Tokens = "off"           // whole
)

// checkStages checks the fields that only apply to stages.
func (in Input) checkStages() error {
	switch {
	case !in.Stages && (in.Output != "" || in.Tokens != ""):
		return messages.InvalidInput("output and tokens need stages; set stages to true")
	case in.Output != "" && in.Output != text && in.Output != structuredOutput:
		return messages.InvalidInput("the output %q must be %s or %s", in.Output, text, structuredOutput)
	case in.Tokens != "" && in.Tokens != authoritative && in.Tokens != debug && in.Tokens != off:
		return messages.InvalidInput("tokens %q must be %s, %s or %s", in.Tokens, authoritative, debug, off)
	}
	return nil
}

// whole reports whether the answer arrives in one piece.
func (in Input) whole() bool { return in.Tokens == debug || in.Tokens == off }

// staged is a turn in three tasks, which run one after the other and share it.
type staged struct {
	turn
	in       Input
	ladder   *structured.Ladder // what one stage learns about the server, the next one uses
	stage    string
	plan     *intent         // nil if understand failed
	degraded []string        // what the turn continued without
	heard    strings.Builder // the model's last answer in JSON, as it wrote it
	end      model.End       // of that answer
	raw      strings.Builder // text of the debug stream
	debug    string
}

// stages returns the tasks of a staged turn.
func stages(in Input, c Config) []actors.Task {
	s := &staged{turn: turn{Config: c, voice: "think"}, in: in, ladder: structured.NewLadder(c.Structured)}
	stage := func(name string, work func(context.Context) error) actors.Task {
		return actors.Task{Name: name, Policy: supervision.Policy{Attempts: 1},
			Run: func(ctx context.Context, t *actors.TaskContext) error {
				s.task, s.stage = t, name
				ctx, stop := s.timed(ctx)
				defer stop()
				if err := s.begin(ctx, in); err != nil {
					return err
				}
				return s.withConversation(name == "respond", func() error {
					if err := s.fitContext(ctx); err != nil {
						return err
					}
					return cmp.Or(s.withTimeLimit(ctx, work), s.closeDebug())
				})
			}}
	}
	return []actors.Task{stage("understand", s.understand), stage("think", s.think), stage("respond", s.respond)}
}

// withTimeLimit does the work of a stage within its time. A stage that the turn can do without leaves time for the
// answer.
func (s *staged) withTimeLimit(ctx context.Context, work func(context.Context) error) error {
	if s.stage == "respond" {
		return work(ctx)
	}
	inner, stop := tool.WithTimeout(ctx, s.Bounds.Stage, messages.LimitExceeded("the stage took longer than its timeout of %s", s.Bounds.Stage))
	defer stop()
	if err := work(inner); err != nil {
		return s.continueWithout(ctx, cmp.Or(context.Cause(inner), err))
	}
	return nil
}

const noTools = "skipped: there are no tools"

// understand asks the model for the intent, and whether tools are needed.
func (s *staged) understand(ctx context.Context) error {
	tools := s.Tools.Offered()
	if len(tools) == 0 {
		s.task.Summarize(noTools)
		return nil
	}
	var words strings.Builder
	words.WriteString(askIntent + "\nThe tools:")
	for _, t := range tools {
		words.WriteString("\n- " + t.Name + ": " + t.Description)
	}
	plan, err := question[intent](ctx, s, "understand", words.String(), structured.Options{})
	if err != nil {
		return err
	}
	s.plan = &plan
	s.task.Summarize(plan.Intent)
	return nil
}

// think lets the model call tools, and collects what they found.
func (s *staged) think(ctx context.Context) error {
	switch {
	case len(s.Tools.Offered()) == 0:
		s.task.Summarize(noTools)
		return nil
	case s.plan != nil && !s.plan.NeedsSearch:
		s.task.Summarize("skipped: the answer needs no tools")
		return nil
	}
	s.conversation = append(s.conversation, s.instruction(askFindings+s.plan.hint()))
	s.aside = true
	a, err := s.loop(ctx)
	if err == nil && !s.denied {
		err = s.found(ctx, a)
	}
	if err != nil {
		return err
	}
	s.task.Summarize(fmt.Sprintf("calls of tools: %d", s.spent.toolCalls))
	return nil
}

// found reads the JSON of think's last answer. It asks for it again at most twice.
func (s *staged) found(ctx context.Context, a call.Answer) error {
	text := a.Text
	for _, t := range a.Thoughts {
		text = cmp.Or(text, t.Text) // some servers' grammar puts the JSON into the thoughts
	}
	found, problems, err := structured.Read[findings](text)
	if problems != nil {
		words := "Your answer was rejected:\n- " + strings.Join(problems, "\n- ") + "\nReturn only the corrected JSON object."
		found, err = question[findings](ctx, s, "think.again", words, structured.Options{Reasks: 1})
	}
	if err != nil {
		return err
	}
	if end := len(s.conversation) - 1; s.conversation[end].Role == model.Assistant {
		s.conversation = s.conversation[:end]
	}
	return s.appendMessages(model.Message{Role: model.Assistant, Content: found.words()})
}

// respond asks for the answer, without tools.
func (s *staged) respond(ctx context.Context) error {
	s.aside = false
	if s.in.Output == structuredOutput {
		return s.structured(ctx)
	}
	s.conversation = append(s.conversation, s.instruction(askText+s.marks()))
	s.voice, s.whole = answers, s.in.whole()
	s.spent.iterations, s.Tools, s.listen = 0, new(tool.Set), s.debugged(s.answer())
	a, err := s.converse(ctx)
	if err != nil {
		return err
	}
	return s.conclude(a, nil, "medium")
}

// structured streams the response of an answer in JSON. After two rejected answers, the result is what the user has
// read.
func (s *staged) structured(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var text strings.Builder
	field := func(path, piece string) {
		if path != "response" {
			return
		}
		text.WriteString(piece)
		if s.in.whole() {
			return
		}
		if err := s.task.AppendTyped(s.answer(), messages.TextMarkdown, piece); err != nil {
			stop(err)
		}
	}
	words := askReply + s.marks()
	r, err := question[reply](ctx, s, s.answer(), words, structured.Options{Field: field})
	a := call.Answer{Text: r.Response, End: s.end}
	if err != nil {
		if a.Text, r.Confidence = cmp.Or(text.String(), s.heard.String()), "low"; a.Text == "" {
			return err
		}
		if err := s.continueWithout(ctx, err); err != nil {
			return err
		}
	}
	done := messages.TextDone{Stream: s.answer(), Text: a.Text, SHA256: messages.Digest(a.Text), MediaType: messages.TextMarkdown}
	if err := s.task.Emit(done, "the answer is complete"); err != nil {
		return err
	}
	if err := s.appendMessages(model.Message{Role: model.Assistant, Content: a.Text}); err != nil {
		return err
	}
	return s.conclude(a, r.Citations, r.Confidence)
}

// answer returns the name of the last answer's text.
func (s *staged) answer() string { return answers + ".1" }

// conclude ends the run with the answer, the sources that it lists, and its confidence.
func (s *staged) conclude(a call.Answer, cited []string, confidence string) error {
	r := s.result(a)
	r.Citations = s.citations(a.Text, cited, true)
	if r.Confidence = confidence; len(s.degraded) > 0 {
		r.Confidence = "low"
	}
	r.Degraded = strings.Join(s.degraded, "; ")
	return s.finish(r)
}

func (s *staged) instruction(words string) model.Message {
	return model.Message{Role: model.User, Content: words}
}

// question asks for a T under the name. The instruction is for this question only.
func question[T any](ctx context.Context, s *staged, name, words string, o structured.Options) (T, error) {
	o.Ladder, o.Attempt = s.ladder, s.attempt
	recorded := s.recorded(name)
	for {
		value, report, err := structured.Ask[T](ctx, recorded, s.request(name, words), o)
		if !report.Overflow {
			return value, err
		}
		if shorter, failed := s.overflowed(ctx, call.Answer{End: s.end}); !shorter {
			return value, cmp.Or(failed, err)
		}
	}
}

// attempt begins an attempt at a question.
func (s *staged) attempt(a structured.Attempt) {
	s.heard.Reset()
	if len(a.Rejected) > 0 {
		s.task.Log(messages.LogWarn, fmt.Sprintf("attempt %d: the previous answer was rejected: %s", a.Number, a.Rejected[0]))
	}
}

// recorded returns the stream of the model for a question. The log and the turn hear its answers.
func (s *staged) recorded(name string) model.Stream {
	debug := s.debugged(name)
	return call.Recorded(s.task, s.Stream, call.Label{Name: name, Provider: s.Provider, Hear: func(part model.Part) {
		debug(part)
		switch p := part.(type) {
		case model.Text:
			s.heard.WriteString(p.Text)
		case model.End:
			s.end = p
			s.usage = s.usage.Sum(p.Usage)
		}
	}})
}

// request returns the request for a question: the conversation, and the instruction.
func (s *staged) request(name, words string) model.Request {
	messages := slices.Concat(s.conversation, []model.Message{s.instruction(words)})
	r := model.Request{Model: s.model, Messages: conversation.Wire(messages, s.Profile)}
	if name == "understand" {
		r.MaxTokens, r.Extra = 2000, s.NoThoughts
	}
	return r
}

// debugged returns a listener for the model's parts. In debug mode it streams them as NAME.debug.
func (s *staged) debugged(name string) func(model.Part) {
	if s.in.Tokens != debug {
		return func(model.Part) {}
	}
	s.debug = name + ".debug"
	return func(part model.Part) {
		if text, ok := part.(model.Text); ok {
			s.raw.WriteString(text.Text)
			_ = s.task.AppendText(s.debug, text.Text) // if the run refuses this, it refuses the answer too
		}
	}
}

func (s *staged) closeDebug() error {
	if s.raw.Len() == 0 {
		return nil
	}
	defer s.raw.Reset()
	return s.task.FinishText(s.debug, s.raw.String())
}

// continueWithout continues without the result of a stage, or returns why the turn must end.
func (s *staged) continueWithout(ctx context.Context, err error) error {
	switch messages.CodeOf(err) {
	case messages.CauseInvalidOutput, messages.CauseEmptyCompletion, messages.CauseLimitExceeded:
	default:
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.degraded = append(s.degraded, fmt.Sprintf("%s: %v", s.stage, err))
	s.task.Summarize("incomplete")
	return s.task.Notice(messages.NoticeStageSkipped, fmt.Sprintf("the stage %s did not succeed, and the turn goes on: %v", s.stage, err))
}
