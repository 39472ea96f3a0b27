package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Codes of the error of a run whose agent did not do its work. The cause is error.
const (
	codeRefused          messages.Code = "refused"            // the model refused the prompt
	codePermissionDenied messages.Code = "permission_refused" // a call was refused, so that the agent stopped
)

// mostLoops is how many times an agent may shorten its history without having done anything in between.
const mostLoops = 5

// Result is the result of a run.
type Result struct {
	Agent string `json:"agent"`
	// Session continues where this run has ended.
	Session string `json:"session,omitempty"`
	// Text is the agent's last message.
	Text string `json:"text"`
	// Cost is what the agent says that the run has cost.
	Cost *messages.Cost `json:"cost,omitempty"`
}

// turn says what an agent does as events of its run. The reader of the agent's lines alone uses it.
type turn struct {
	command.Spoken
	about
	name    string // of the agent
	session string
	model   string
	cost    *messages.Cost
	began   bool   // llm.started was said
	busy    func() // called when the agent does something

	answers int    // texts until now
	stream  string // the open text; "" without one
	of      string // id of its message
	last    strings.Builder
	since   string // all that was said since the last tool
	held    []string
	heldOf  string

	thoughts int
	thought  string // the open thought; "" without one
	musing   strings.Builder

	calls map[string]*call
	order []*call

	usage      *messages.Usage
	said       int      // bytes of its texts and thoughts since then
	told       [2]int64 // what of it the run knows: tokens that went in and came out
	toldCost   float64
	behindDoor bool   // as [Config.ThroughDoor] says
	retries    int    // in a row
	retried    string // why
	loops      int    // how often it has shortened its history in a row
	grown      bool   // it has done something since
}

// call is a call of a tool.
type call struct {
	id, tool       string
	title          string // what it does, for people
	arguments      json.RawMessage
	started, ended bool
	bytes          int64
	output         string
}

func newTurn(name string, of about, s command.Spoken, behindDoor bool) turn {
	return turn{Spoken: s, about: of, name: name, behindDoor: behindDoor, calls: map[string]*call{}}
}

// numbered makes a name that no other attempt uses.
func (u *turn) numbered(name string, n *int) string {
	*n++
	return fmt.Sprintf("%s.%d", name, (u.Task.Attempt()-1)*100_000+*n)
}

// named makes a call's name that no other attempt uses.
func (u *turn) named(id string) string {
	if n := u.Task.Attempt(); n > 1 {
		return fmt.Sprintf("%s@%d", id, n)
	}
	return id
}

// works notes that the agent does something.
func (u *turn) works() error {
	u.Heard()
	u.busy()
	u.retries = 0
	return u.begin()
}

// begin says once that a model works.
func (u *turn) begin() error {
	if u.began {
		return nil
	}
	u.began = true
	b := messages.LLMStarted{Call: u.llm(), Model: cmp.Or(u.model, u.name), Provider: u.name}
	if u.Task.Budgeted() { // the door's calls reserve what they may spend, or the agent tells what it has used
		if b.Reserved.Output = 1; u.behindDoor || !u.costless {
			b.Reserved.Cost.Amount = tellsCost
		}
	}
	return u.Task.Emit(b, "asking "+u.name)
}

// llm names the only call of a model: the whole turn.
func (u *turn) llm() string { return fmt.Sprintf("answer.%d.1", u.Task.Attempt()) }

// text adds to the answer. A text that begins the answer again is another try after a cut: the first one is closed, and
// the new one is the answer.
func (u *turn) text(id, piece string) error {
	if piece == "" {
		return nil
	}
	u.grown = true
	if err := u.works(); err != nil {
		return err
	}
	again := strings.Join(u.held, "") + piece
	fresh := len(u.held) > 0 || id != u.of || u.repeats
	if fresh && u.since != "" && (len(u.held) == 0 || id == u.heldOf) && (strings.HasPrefix(u.since, again) || strings.HasPrefix(again, u.since)) {
		u.held, u.heldOf = append(u.held, piece), id
		if len(u.held) < 2 || id == u.of && len(again) < len(u.since) {
			return nil
		}
		if err := u.rewind(); err != nil {
			return err
		}
		piece, u.held = again, nil
		return u.write(id, piece)
	}
	if err := u.release(); err != nil {
		return err
	}
	return u.write(id, piece)
}

// release says what was held back, because it is no second try.
func (u *turn) release() error {
	held := strings.Join(u.held, "")
	if u.held = nil; held == "" {
		return nil
	}
	return u.write(u.heldOf, held)
}

// rewind closes the text of a try that was cut.
func (u *turn) rewind() error {
	if u.stream != "" {
		text := u.last.String()
		if err := u.Task.Emit(messages.TextClosed{Stream: u.stream, Bytes: len(text), SHA256: messages.Digest(text)}, "the answer begins again"); err != nil {
			return err
		}
	}
	u.stream, u.since = "", ""
	return u.Task.Log(messages.LogInfo, u.name+" begins its answer again: the model's server has cut the first one")
}

func (u *turn) write(id, piece string) error {
	if u.stream != "" && id != u.of {
		if err := u.endText(); err != nil {
			return err
		}
	}
	if u.stream == "" {
		if err := u.endThought(); err != nil {
			return err
		}
		u.stream, u.of = u.numbered("answer", &u.answers), id
		u.last.Reset()
	}
	u.last.WriteString(piece)
	u.since += piece
	u.said += len(piece)
	return cmp.Or(u.Task.AppendText(u.stream, piece), u.tell())
}

// endText closes the open text.
func (u *turn) endText() error {
	err := u.release()
	stream := u.stream
	if u.stream = ""; stream == "" || err != nil {
		return err
	}
	return u.Task.FinishText(stream, u.last.String())
}

// think adds to the open thought.
func (u *turn) think(piece string) error {
	if piece == "" {
		return nil
	}
	err := cmp.Or(u.works(), u.endText())
	if u.thought == "" {
		u.thought = u.numbered("answer.thought", &u.thoughts)
		u.musing.Reset()
	}
	u.musing.WriteString(piece)
	u.said += len(piece)
	return cmp.Or(err, u.Task.Emit(messages.ThoughtDelta{Stream: u.thought, Text: piece}, ""), u.tell())
}

func (u *turn) endThought() error {
	stream, text := u.thought, u.musing.String()
	if u.thought = ""; stream == "" {
		return nil
	}
	return u.Task.Emit(messages.ThoughtDone{Stream: stream, Text: text, SHA256: messages.Digest(text)}, "")
}

// mostName bounds names, in bytes.
const mostName = 256

// nameOf returns an agent's word as a log may have it for a name.
func nameOf(text string) string { return messages.Bound(words.Printable(text), mostName) }

// tool returns the call with the id, and adds what is known of it now.
func (u *turn) tool(id, name string, arguments json.RawMessage) *call {
	c := u.calls[id]
	if c == nil {
		clean := id
		if id == "" || nameOf(id) != id { // no name of a log
			clean = fmt.Sprintf("call.%d", len(u.order)+1)
		}
		c = &call{id: u.named(clean)}
		u.calls[id] = c
		u.order = append(u.order, c)
	}
	c.tool = cmp.Or(nameOf(name), c.tool)
	if !isEmpty(arguments) {
		c.arguments = arguments
	}
	return c
}

// isEmpty reports whether JSON says nothing.
func isEmpty(text json.RawMessage) bool {
	switch strings.TrimSpace(string(text)) {
	case "", "null", "{}", "[]", `""`:
		return true
	}
	return false
}

// start says that the call began.
func (u *turn) start(c *call) error {
	if c.started {
		return nil
	}
	c.started = true
	if err := cmp.Or(u.works(), u.endText(), u.endThought()); err != nil {
		return err
	}
	u.since = ""
	tool, arguments := cmp.Or(c.tool, "tool"), c.arguments
	if isEmpty(arguments) && c.title != "" {
		arguments, _ = json.Marshal(map[string]string{"title": c.title}) // of texts
	}
	return u.Task.Emit(messages.ToolStarted{Call: c.id, Tool: tool, Arguments: bounded(arguments)}, "calls "+words.OneLine(tool))
}

// progress says how much the call has printed. A delta appends to its output, and another piece replaces it.
func (u *turn) progress(c *call, output string) error {
	c.output = messages.Bound(output, mostResult)
	if c.bytes = int64(len(output)); !c.started || c.ended {
		return nil
	}
	u.Heard()
	return u.Task.Emit(messages.ToolProgress{Call: c.id, Done: c.bytes, Unit: "bytes"}, "")
}

// finish says that the call ended.
func (u *turn) finish(c *call, result json.RawMessage, failed string) error {
	if err := u.start(c); err != nil || c.ended {
		return err
	}
	c.ended, u.grown = true, true
	if isEmpty(result) && c.output != "" {
		result = quoted(c.output)
	}
	done, says := messages.ToolCompleted{Call: c.id, Result: bounded(result)}, c.tool+" returned"
	if failed != "" {
		done.Result, done.Error, says = nil, messages.Errorf(messages.CauseError, "%s", messages.Bound(words.WithoutControls(failed), 4<<10)), c.tool+" failed"
	}
	return cmp.Or(u.works(), u.Task.Conclude(done, says))
}

// mostResult bounds what the log keeps of a call's arguments or result, in bytes.
const mostResult = 256 << 10

// bounded cuts JSON that is too long, as a text.
func bounded(text json.RawMessage) json.RawMessage {
	if len(text) <= mostResult {
		return text
	}
	return quoted(messages.Bound(string(text), mostResult))
}

func quoted(text string) json.RawMessage {
	all, _ := json.Marshal(text) // a text always can be
	return all
}

// retry notes that the agent asks its model's server again.
func (u *turn) retry(why string) error {
	u.retries++
	u.retried = messages.Bound(words.OneLine(why), 300)
	return u.Task.Log(messages.LogWarn, fmt.Sprintf("%s asks its model again: %s", u.name, u.retried))
}

// shorten notes that the agent has shortened its history. That is no progress: an agent that does nothing else is ended.
func (u *turn) shorten() error {
	if u.loops++; u.grown {
		u.loops = 1
	}
	if u.grown = false; u.loops == mostLoops {
		u.Over(messages.Errorf(messages.CodeCompactionLoop, "%s has shortened its history %d times in a row, and did nothing in between; begin a new session with a smaller task", u.name, mostLoops))
	}
	return u.Task.Log(messages.LogInfo, u.name+" shortens its history")
}

// mostPlan bounds the steps of a plan in the log.
const mostPlan = 32

// plan says how far the agent's plan is, and its steps as lines of the log.
func (u *turn) plan(steps []object) error {
	done, lines := int64(0), []messages.LogLine{}
	for _, one := range steps[:min(len(steps), mostPlan)] {
		mark := "[ ] "
		if one.text("status") == "completed" || one["completed"] == true {
			mark = "[x] "
			done++
		}
		lines = append(lines, messages.LogLine{Level: messages.LogInfo, Text: messages.Bound(mark+words.OneLine(one.either("content", "text")), messages.LogLineBytes)})
	}
	if len(lines) == 0 {
		return nil
	}
	return cmp.Or(u.Task.Progress(done, int64(len(steps)), "steps"), u.Task.Emit(messages.Log{Lines: lines}, ""))
}

// stalled replaces the reason of a limit on silence by what the agent said last.
func (u *turn) stalled(why error) error {
	if messages.CodeOf(why) != messages.CauseStalled || u.retries == 0 {
		return why
	}
	return messages.Errorf(messages.CauseProviderError, "%v: it has asked its model %s in vain: %s", why, words.Count(u.retries, "time"), u.retried)
}

// close ends all that is open. stop is the agent's word for its end.
func (u *turn) close(stop string, failed error) error {
	stop = nameOf(stop)
	err := cmp.Or(u.endText(), u.endThought())
	for _, c := range u.order {
		if c.started && !c.ended {
			c.ended = true
			unknown := messages.Errorf(messages.CauseError, "nobody knows how the call of %s ended: %s has ended before", c.tool, u.name)
			_ = u.Task.Log(messages.LogWarn, unknown.Message) // after a cancel nobody logs
			err = cmp.Or(u.Task.Conclude(messages.ToolCompleted{Call: c.id, Error: unknown}, c.tool+" did not return"), err)
		}
	}
	if !u.began {
		return err
	}
	done := messages.LLMCompleted{Call: u.llm(), Model: cmp.Or(u.model, u.name), Usage: u.counted(), FinishReason: stop, Evidence: cmp.Or(stop, "exit"), Verdict: "completed"}
	if failed != nil {
		done.Verdict = "failed"
		own := messages.Errorf(cmp.Or(messages.CodeOf(failed), messages.CauseError), "%v", failed)
		if done.Error = own; own.Code == messages.CauseCanceledByUser {
			done.Verdict, done.Error = "canceled", nil
		}
	}
	return cmp.Or(u.Task.Conclude(done, u.name+" has ended"), err)
}

// counted is what the agent says that its model has used, or an estimate of what it has said. Behind lastword's own door
// to a model, the door counts it.
func (u *turn) counted() *messages.Usage {
	if u.behindDoor {
		return nil
	}
	used := u.usage
	if u.said > 0 {
		used = used.Sum(&messages.Usage{CompletionTokens: new(int64(messages.OutputTokens(u.said))), Estimated: true})
	}
	if u.cost != nil && u.cost.Amount > 0 && u.cost.Currency == messages.Currency {
		used = used.Sum(&messages.Usage{Cost: u.cost})
	}
	return used
}

// uses takes what the agent says that its model has used. A count of nothing for what it has said is none.
func (u *turn) uses(all *messages.Usage) {
	if u.usage = all; all.Amount().Output > 0 {
		u.said = 0
	}
}

// tell tells a run with a budget what its agent has used until now. All of it is an estimate until the turn ends.
func (u *turn) tell() error {
	if !u.began || !u.Task.Budgeted() {
		return nil
	}
	in, out := u.counted().Tokens()
	in, out = max(in-u.told[0], 0), max(out-u.told[1], 0)
	used := messages.Usage{CompletionTokens: &out, Estimated: true}
	if in > 0 {
		used.PromptTokens = &in
	}
	if u.cost != nil && u.cost.Amount > u.toldCost && u.cost.Currency == messages.Currency {
		used.Cost = &messages.Cost{Amount: u.cost.Amount - u.toldCost, Currency: messages.Currency}
		u.toldCost = u.cost.Amount
	} else if in+out < messages.LeastOutput {
		return nil
	}
	u.told[0], u.told[1] = u.told[0]+in, u.told[1]+out
	return u.Task.Emit(messages.UsageReported{Call: u.llm(), By: "agent", Model: cmp.Or(u.model, u.name), Usage: used}, "")
}

// result is the result of a run that completed.
func (u *turn) result() Result {
	return Result{Agent: u.name, Session: u.session, Text: messages.Bound(u.last.String(), 64<<10), Cost: u.cost}
}

// lingered says that the agent went on after its last word, and how it ended.
func (u *turn) lingered(exit error) error {
	return u.Task.Notice(messages.NoticeLingered, fmt.Sprintf("%s had done its work, and did not end by itself: %v", u.name, cmp.Or(exit, error(messages.Errorf("", "it still ran after %v", linger)))))
}

// linger is how long an agent may go on after its last word.
const linger = 5 * time.Second
