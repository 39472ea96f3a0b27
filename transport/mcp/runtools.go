package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const (
	startTool  = "run_start"
	answerTool = "run_answer"
)

// Schemas of arguments that several tools share.
const (
	runArgument   = `"run_id":{"type":"string"}`
	afterArgument = `"after":{"description":"next of the last page, or a seq"}`
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
	// The argument of all tools but run_start and run_list.
	RunID messages.RunID `json:"run_id"`

	Status  RunStatus       `json:"status"`
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
		Description: "Starts a job and answers at once with the run's id. Use it for work over a minute, or to do " +
			"something else meanwhile; then call run_wait.",
		Input: startInput(`{"type":"string","description":"its tool"}`), OpenWorld: true}, s.runStart,
	}, {Tool{Name: "run_cancel", Title: "Cancel a run",
		Description: "Asks a run to end, and answers once that is accepted. To ask again does nothing.",
		Input: Object([]string{"run_id"}, runArgument,
			`"reason":{"type":"string","maxLength":1000,"description":"for its readers"}`),
		Destructive: true, Idempotent: true}, s.runCancel,
	}, {Tool{Name: answerTool, Title: "Answer a run",
		Description: "Gives a run the answer that it waits for (status waiting). Its result has the questions.",
		Input:       answerInput(``)}, s.runAnswer,
	}}
}

// readingTools returns the tools that change nothing.
func (s *Server) readingTools() []runTool {
	tools := []runTool{{Tool{Name: "run_get", Title: "Look at a run",
		Description: "Says where a run stands, without waiting: its status, and after its end the result or error, and " +
			"its files.",
		Input: Object([]string{"run_id"}, runArgument)}, s.ofRun(s.runState),
	}, {Tool{Name: "run_list", Title: "List runs",
		Description: "Lists your runs, the last updated first. Use it to find a run's id.",
		Input: Object(nil, `"job":{"type":"string","description":"only runs of this job"}`,
			`"status":{"type":"string","enum":["working","completed","failed","canceled"],"description":"one that `+
				`waits for an answer is working"}`,
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
		Description: "Gives a run's events, none twice: give next as after in the next call, until done. Use it to " +
			"follow a run, also after a lost connection.",
		Input: Object([]string{"run_id"}, runArgument, afterArgument,
			`"deltas":{"type":"boolean","description":"also pieces of texts, progress and log lines"}`,
			`"max":{"type":"integer","minimum":1,"maximum":1000,"description":"most events; a page is longer with it"}`,
			`"wait_ms":{`+waitBound+`,"description":"how long to wait for one"}`),
		Output: json.RawMessage(pageSchema)}, s.ofRun(s.runEvents),
	}, {Tool{Name: "run_wait", Title: "Wait for a run",
		Description: "Waits until a run ends or asks something, and gives its result. If it is still working when " +
			"the time is over, call again.",
		Input: Object([]string{"run_id"}, runArgument, `"wait_ms":{`+waitBound+`,"default":50000,"description":"how long"}`),
	}, s.ofRun(s.runWait),
	}, {Tool{Name: "run_attach", Title: "Stream a run",
		Description: "Streams a run's events as progress, and gives its result. To cancel this call does not end the run.",
		Input:       Object([]string{"run_id"}, runArgument, afterArgument)}, s.ofRun(s.runAttach),
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
		`"labels":{"type":"object","additionalProperties":{"type":"string"},"description":"your own names and values"}`,
		`"key":{"type":"string","maxLength":256,"description":"one key, one run: safe to repeat"}`,
		`"detached":{"type":"boolean","default":true,"description":"false ends the run with your session"}`)
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
		`"request":{"type":"string","description":"which of the questions"}`,
		`"value":{`+typed+`"description":"the answer; JSON unless the question wants a text"}`)
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
	state, err := s.Start(ctx, a.Job, a.Input, StartOptions{Labels: a.Labels, Key: a.Key, Mode: mode, session: session})
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
	err := s.runs.Answer(ctx, a.RunID, a.Request, a.Value)
	var text string
	if messages.CodeOf(err) == messages.CauseInvalidInput && json.Unmarshal(a.Value, &text) == nil && json.Valid([]byte(text)) {
		err = s.runs.Answer(ctx, a.RunID, a.Request, json.RawMessage(text))
	}
	if err != nil {
		return nil, err
	}
	return s.ofRun(s.runState)(ctx, a)
}
