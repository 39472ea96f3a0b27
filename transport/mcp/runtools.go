package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

const (
	startTool  = "run_start"
	getTool    = "run_get"
	waitTool   = "run_wait"
	answerTool = "run_answer"
)

// Schemas of arguments that several tools share.
const (
	runArgument   = `"run_id":{"type":"string"}`
	afterArgument = `"after":{"description":"next of a page, or a seq"}`
	waitBound     = `"type":"integer","minimum":0,"maximum":50000`
)

// runArguments are the arguments of all tools run_*. The schema of each tool says which of them it takes.
type runArguments struct {
	// Arguments of run_start.
	Job      string            `json:"job"` // also of run_list
	Input    json.RawMessage   `json:"input"`
	Labels   map[string]string `json:"labels"`
	Key      string            `json:"key"`
	Detached *bool             `json:"detached"`
	Budget   json.RawMessage   `json:"budget"`
	// The argument of all tools but run_start and run_list.
	RunID messages.RunID `json:"run_id"`

	Status  messages.Status `json:"status"`
	Limit   int64           `json:"limit"`
	Name    string          `json:"name"`
	Offset  int64           `json:"offset"`
	After   json.RawMessage `json:"after"`
	Deltas  bool            `json:"deltas"`
	Max     int             `json:"max"`
	Wait    *int            `json:"wait_ms"`
	Reason  string          `json:"reason"`
	Request string          `json:"request"`
	Value   json.RawMessage `json:"value"`
	// Arguments of run_say.
	ID      string           `json:"id"`
	Content string           `json:"content"`
	Mode    messages.SayMode `json:"mode"`
	StreamOptions
}

// runTool is one of the tools run_*.
type runTool struct {
	Tool
	call func(ctx context.Context, a runArguments) (*Result, error)
}

// addRunTools adds the tools for all jobs. showInputs completes their schemas when they are listed.
func (s *Server) addRunTools() error {
	s.mcp.GetHooks().AddAfterListTools(s.showInputs)
	var failed error
	for _, t := range slices.Concat(s.changingTools(), s.readingTools()) {
		if len(t.Output) == 0 {
			t.Output = json.RawMessage(runResultSchema)
		}
		failed = errors.Join(failed, AddTool(s, t.Tool, t.call))
	}
	return failed
}

// changingTools returns the tools that start or change runs.
func (s *Server) changingTools() []runTool {
	return []runTool{{Tool{Name: startTool, Title: "Start a run",
		Description: "Starts a job and answers at once with its id. For work over a minute; then " +
			"call run_wait.",
		Input: startInput(`{"type":"string","description":"its tool"}`), OpenWorld: true}, s.runStart,
	}, {Tool{Name: "run_cancel", Title: "Cancel a run",
		Description: "Asks a run to end; answers once that is accepted. Safe to repeat.",
		Input: Object([]string{"run_id"}, runArgument,
			`"reason":{"type":"string","maxLength":1000,"description":"for its readers"}`),
		Destructive: true, Idempotent: true}, s.runCancel,
	}, {Tool{Name: answerTool, Title: "Answer a run",
		Description: "Gives a run the answer that it waits for. Its result has the questions.",
		Input:       answerInput(``)}, s.runAnswer,
	}, {Tool{Name: "run_say", Title: "Message a run",
		Description: "Gives a working run a message: its model sees it before its next call.",
		Input: Object([]string{"run_id", "content"}, runArgument, `"content":{"type":"string","description":"the text"}`,
			`"id":{"type":"string","description":"makes repeats safe"}`, `"mode":{"type":"string","enum":["steer","interrupt"],"description":"interrupt stops its call"}`)}, s.runSay,
	}}
}

// readingTools returns the tools that change nothing.
func (s *Server) readingTools() []runTool {
	tools := []runTool{{Tool{Name: getTool, Title: "Look at a run",
		Description: "Says where a run stands, without waiting: status, result, error, files.",
		Input:       Object([]string{"run_id"}, runArgument)}, s.ofRun(s.runState),
	}, {Tool{Name: "run_list", Title: "List runs",
		Description: "Lists your runs, the last updated first. It gives their ids.",
		Input: Object(nil, `"job":{"type":"string","description":"only runs of this job"}`,
			`"status":{"type":"string","enum":["working","completed","failed","canceled"],"description":"a waiting `+
				`one is working"}`,
			`"limit":{"type":"integer","minimum":1,"maximum":200,"default":20,"description":"most runs"}`),
		Output: json.RawMessage(runListSchema)}, s.runList,
	}, {Tool{Name: "run_read", Title: "Read a run's file",
		Description: "Reads a part of a file that a run wrote; next is the offset to go on from.",
		Input: Object([]string{"run_id", "name"}, runArgument,
			`"name":{"type":"string","description":"as the run's result says"}`,
			`"offset":{"type":"integer","minimum":0,"description":"first byte"}`,
			fmt.Sprintf(`"limit":{"type":"integer","minimum":1,"maximum":%d,"default":%d,"description":"most bytes"}`,
				longestRead, defaultRead)),
		Output: json.RawMessage(filePartSchema)}, s.ofRun(s.runRead),
	}, {Tool{Name: "run_events", Title: "Read a run's events",
		Description: "Gives a run's events, none twice: give next as after in the next call, until done.",
		Input: Object([]string{"run_id"}, runArgument, afterArgument,
			`"deltas":{"type":"boolean","description":"pieces of texts, too"}`,
			`"max":{"type":"integer","minimum":1,"maximum":1000,"description":"most events"}`,
			`"wait_ms":{`+waitBound+`,"description":"how long"}`),
		Output: json.RawMessage(pageSchema)}, s.ofRun(s.runEvents),
	}, {Tool{Name: waitTool, Title: "Wait for a run",
		Description: "Waits until a run ends or asks something. If it still works, call again.",
		Input:       Object([]string{"run_id"}, runArgument, `"wait_ms":{`+waitBound+`,"default":50000,"description":"how long"}`),
	}, s.ofRun(s.runWait),
	}, {Tool{Name: "run_attach", Title: "Stream a run",
		Description: "Streams a run's events as progress, then its result. A cancel leaves the run.",
		Input:       Object([]string{"run_id"}, runArgument, afterArgument, StreamArguments)}, s.ofRun(s.runAttach),
	}}
	for i := range tools {
		tools[i].ReadOnly, tools[i].Idempotent = true, true
	}
	return tools
}

// ofRun returns a handler that passes the State of the run to call. Errors: not_found.
func (s *Server) ofRun(call func(context.Context, messages.State, runArguments) (*Result, error)) func(context.Context, runArguments) (*Result, error) {
	return func(ctx context.Context, a runArguments) (*Result, error) {
		state, err := s.Run(ctx, a.RunID)
		if err != nil {
			return nil, err
		}
		return call(ctx, state, a)
	}
}

// startInput returns the schema of run_start's arguments. job is the schema of the job's name.
func startInput(job string) json.RawMessage {
	return Object([]string{"job"}, `"job":`+job,
		`"input":{"type":"object","description":"that tool's arguments"}`,
		`"labels":{"type":"object","additionalProperties":{"type":"string"},"description":"your own names"}`,
		`"key":{"type":"string","maxLength":256,"description":"makes repeats safe"}`,
		`"budget":{"type":"object","description":"{\"tokens\":9000}"}`,
		`"detached":{"type":"boolean","default":true,"description":"false: ends with your session"}`)
}

// showInputs adds to the listed schemas what the server does not check by them. These are the names of jobs, which are
// added after run_start, and that answers and cursors are strings, because every model can write those.
func (s *Server) showInputs(_ context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	for i, tool := range result.Tools {
		switch tool.Name {
		case startTool:
			names, _ := json.Marshal(slices.Sorted(maps.Keys(s.jobs))) // strings always can
			if len(s.jobs) > 0 {
				result.Tools[i].RawInputSchema = startInput(`{"type":"string","enum":` + string(names) + `,"description":"its tool"}`)
			}
		case "run_events", "run_attach":
			result.Tools[i].RawInputSchema = bytes.Replace(tool.RawInputSchema, []byte(`"after":{`), []byte(`"after":{"type":"string",`), 1)
		case answerTool:
			result.Tools[i].RawInputSchema = answerInput(`"type":"string",`)
		}
	}
}

// answerInput returns the schema of run_answer's arguments. Clients are told that the value is a string, because every
// model can write one. The server accepts any value.
func answerInput(typed string) json.RawMessage {
	return Object([]string{"run_id", "request", "value"}, runArgument,
		`"request":{"type":"string","description":"which question"}`,
		`"value":{`+typed+`"description":"JSON unless the question wants a text"}`)
}

// runStart starts a job. Only a session can hold an attached run, because the run ends with it.
func (s *Server) runStart(ctx context.Context, a runArguments) (*Result, error) {
	if s.jobs[a.Job] == nil {
		return nil, messages.InvalidInput("there is no job %q; there are %q", a.Job, slices.Sorted(maps.Keys(s.jobs)))
	}
	mode := messages.Detached
	if a.Detached != nil && !*a.Detached {
		mode = messages.Attached
	}
	session := wire.From(ctx).Session()
	if mode == messages.Attached && session == nil {
		return nil, messages.InvalidInput("there is no session that the run could end with; start it detached, and end it with " +
			"run_cancel")
	}
	o, err := metadata(wire.From(ctx))
	if err == nil && len(a.Budget) > 0 {
		o.Budget, err = messages.ReadBudget(a.Budget)
	}
	if err != nil {
		return nil, err
	}
	o.Labels, o.Key, o.Mode, o.session = a.Labels, a.Key, mode, session
	state, err := s.Start(ctx, a.Job, a.Input, o)
	if err != nil {
		return nil, err
	}
	return s.runState(ctx, state, a)
}

// runState returns the state of the run. It is not an error, even if the run failed.
func (s *Server) runState(ctx context.Context, state messages.State, _ runArguments) (*Result, error) {
	result := s.Result(ctx, state)
	result.IsError = false
	return result, nil
}

func (s *Server) runCancel(ctx context.Context, a runArguments) (*Result, error) {
	if err := s.runs.Cancel(ctx, a.RunID, a.Reason); err != nil {
		return nil, err
	}
	return s.ofRun(s.runState)(ctx, a)
}

// runAnswer answers a question with the value. If the value does not fit and is a string with JSON in it, that JSON is
// the answer.
func (s *Server) runAnswer(ctx context.Context, a runArguments) (*Result, error) {
	err := s.runs.Answer(ctx, door.Agent, a.RunID, a.Request, a.Value)
	var text string
	if messages.CodeOf(err) == messages.CauseInvalidInput && json.Unmarshal(a.Value, &text) == nil && json.Valid([]byte(text)) {
		err = s.runs.Answer(ctx, door.Agent, a.RunID, a.Request, json.RawMessage(text))
	}
	if err != nil {
		return nil, err
	}
	return s.ofRun(s.runState)(ctx, a)
}

// runSay says something to a run.
func (s *Server) runSay(ctx context.Context, a runArguments) (*Result, error) {
	m, err := s.runs.Say(ctx, door.Agent, a.RunID, messages.Said{Message: a.ID, Mode: a.Mode, Content: a.Content})
	if err != nil {
		return nil, err
	}
	result, err := s.ofRun(s.runState)(ctx, a)
	if err == nil {
		result.Text = fmt.Sprintf("The run has the message %s, as number %d of those that it has not taken.\n%s", m.Message, m.Position, result.Text)
	}
	return result, err
}

const (
	// defaultRead and longestRead are the default and the maximum number of bytes that one call returns.
	defaultRead = 10_000
	longestRead = 100_000
)

// filePart is a part of a file. Offsets and sizes are in bytes.
type filePart struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"` // if it is not text
	Offset int64  `json:"offset"`
	// Next is the offset of the next part; 0 at the end of the file.
	Next  int64 `json:"next,omitempty"`
	Total int64 `json:"total"`
}

// filePartSchema is the JSON Schema of a filePart.
const filePartSchema = `{"type":"object","required":["name","offset","total"],"properties":{"name":{"type":"string"},` +
	`"text":{"type":"string"},"base64":{"type":"string"},"offset":{"type":"integer"},"next":{"type":"integer"},` +
	`"total":{"type":"integer"}}}`

// runRead returns a part of a file, which begins and ends between characters.
func (s *Server) runRead(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	file, _, err := s.OpenArtifact(ctx, state, a.Name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	part := span{offset: a.Offset, limit: cmp.Or(a.Limit, defaultRead), asked: true}
	c, place, err := part.read(messages.MediaType(a.Name), file)
	if err != nil {
		return nil, err
	}
	p := filePart{Name: a.Name, Text: c.Text, Base64: base64.StdEncoding.EncodeToString(c.Blob), Offset: place.Offset, Total: place.Total}
	text := c.Text
	if c.Blob != nil {
		text = fmt.Sprintf("%s is no text. Its bytes as base64:\n%s", a.Name, p.Base64)
	}
	if end := place.Offset + int64(place.Bytes); end < place.Total {
		p.Next = end
		text += fmt.Sprintf("\n[bytes %d to %d of %d; go on with offset %d]", place.Offset, end, place.Total, end)
	}
	return &Result{Text: text, Structured: p}, nil
}

// wait returns how long a call should wait. missing is the default in milliseconds.
func (a runArguments) wait(missing int) time.Duration {
	if a.Wait != nil {
		missing = *a.Wait
	}
	return time.Duration(missing) * time.Millisecond
}

// runEvents returns a page of events. It waits for the first one if the caller wants to.
func (s *Server) runEvents(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	p, err := newPage(state, a.After)
	if err != nil {
		return nil, err
	}
	p.Next.all = p.Next.all && a.Deltas
	if p.most, p.deltas = a.Max, a.Deltas; a.Max > 0 {
		p.room = longPageBytes
	}
	if err := s.readPage(ctx, &p, state, a.wait(0)); err != nil {
		return nil, err
	}
	return Structured(p)
}

const defaultWait = 50_000 // milliseconds

func (s *Server) runWait(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	if a.Wait != nil && *a.Wait == 0 { // the card looks, and asks nobody
		return s.streamed(ctx, state, nil), nil
	}
	return s.waitFor(ctx, a.RunID, cursor.At(state), a.wait(defaultWait))
}

// waitFor streams the run from the cursor on. It returns the run's state at its end or when the time is over.
func (s *Server) waitFor(ctx context.Context, id messages.RunID, cur cursor.Cursor, wait time.Duration) (*Result, error) {
	within, stop := context.WithTimeout(ctx, wait)
	defer stop()
	state, terminal, err := s.follow(within, streamWait, id, cur)
	if err != nil && within.Err() != nil && ctx.Err() == nil { // the time is over, but the client still waits
		state, err = s.Run(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return s.streamed(ctx, state, terminal), nil
}

// runAttach streams a run from a cursor to its end.
func (s *Server) runAttach(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	after, err := parsePageCursor(a.RunID, a.After)
	if err == nil {
		err = cmp.Or(checkCursor(state, after.Seq), a.Check())
	}
	if err != nil {
		return nil, err
	}
	return s.attach(a.In(ctx), a.RunID, after.Cursor)
}

func (s *Server) attach(ctx context.Context, id messages.RunID, cur cursor.Cursor) (*Result, error) {
	state, terminal, err := s.follow(ctx, streamAttach, id, cur)
	if err != nil {
		return nil, err
	}
	return s.streamed(ctx, state, terminal), nil
}
