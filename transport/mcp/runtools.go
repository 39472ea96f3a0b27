package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/question"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const startTool = "run_start"

// What arguments of more than one tool are.
const (
	runArgument   = `"run_id":{"type":"string","minLength":1,"description":"the run's id"}`
	afterArgument = `"after":{"type":"integer","minimum":0,"default":0,"description":"seq of the last event you have"}`
	waitBound     = `"type":"integer","minimum":0,"maximum":50000`
)

func (s *Server) addRunTools() error {
	s.mcp.GetHooks().AddAfterListTools(s.nameJobs)
	run := json.RawMessage(runResultSchema)
	return errors.Join(s.addStarting(run), s.addReading(run), s.addWaiting(run), s.addSteering(run))
}

func (s *Server) addStarting(run json.RawMessage) error {
	return AddTool(s, Tool{Name: startTool, Title: "Start a run",
		Description: "Starts a job and answers at once with the run's id. Use it for work that takes more than a " +
			"minute, or to do something else meanwhile; then ask with run_wait or run_events.",
		Input: startInput(`{"type":"string","description":"the job's tool"}`), Output: run,
		OpenWorld: true}, s.runStart)
}

// startInput is the schema of run_start's arguments.
func startInput(job string) json.RawMessage {
	return Object([]string{"job"}, `"job":`+job,
		`"input":{"type":"object","default":{},"description":"the arguments of that tool"}`,
		`"labels":{"type":"object","additionalProperties":{"type":"string"},"description":"names and values of your `+
			`own, for run_list"}`,
		`"key":{"type":"string","maxLength":256,"description":"makes the call safe to repeat: the same key is the `+
			`same run"}`,
		`"detached":{"type":"boolean","default":true,"description":"false ends the run with your session"}`)
}

// nameJobs has the listed run_start name the jobs that there are: they are added after it.
func (s *Server) nameJobs(_ context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	i := slices.IndexFunc(result.Tools, func(t mcp.Tool) bool { return t.Name == startTool })
	if i < 0 || len(s.jobs) == 0 {
		return
	}
	names, err := json.Marshal(slices.Sorted(maps.Keys(s.jobs)))
	if err != nil {
		return
	}
	result.Tools[i].RawInputSchema = startInput(`{"enum":` + string(names) + `,"description":"the job's tool"}`)
}

func (s *Server) addReading(run json.RawMessage) error {
	return errors.Join(
		AddTool(s, Tool{Name: "run_get", Title: "Look at a run",
			Description: "Says where a run of yours stands, without waiting: its status, and once it has ended its " +
				"result, its error and what it wrote. Use run_wait to wait for its end.",
			Input: Object([]string{"run_id"}, runArgument), Output: run, ReadOnly: true, Idempotent: true}, s.runGet),
		AddTool(s, Tool{Name: "run_list", Title: "List runs",
			Description: "Lists runs of yours, the newest updated first. Use it to find a run whose id you do not have.",
			Input: Object(nil, `"job":{"type":"string","description":"only runs of this job"}`,
				`"status":{"type":"string","enum":["working","completed","failed","canceled"],"description":"only `+
					`these; one that waits for an answer is working"}`,
				`"limit":{"type":"integer","minimum":1,"maximum":200,"default":20,"description":"the most runs"}`),
			Output: json.RawMessage(runListSchema), ReadOnly: true, Idempotent: true}, s.runList),
	)
}

func (s *Server) addWaiting(run json.RawMessage) error {
	return errors.Join(
		AddTool(s, Tool{Name: "run_events", Title: "Read a run's events",
			Description: "Gives the events of a run past a number, so that none is missed and none comes twice: give " +
				"next as after the next time, until done. Use it to follow a run, also after a lost connection.",
			Input: Object([]string{"run_id"}, runArgument, afterArgument,
				`"max":{"type":"integer","minimum":1,"maximum":1000,"default":100,"description":"the most events"}`,
				`"wait_ms":{`+waitBound+`,"default":0,"description":"how long to wait for the first event"}`),
			Output: json.RawMessage(pageSchema), ReadOnly: true, Idempotent: true}, s.runEvents),
		AddTool(s, Tool{Name: "run_wait", Title: "Wait for a run",
			Description: "Waits until a run of yours has ended, or waits for an answer, and gives its result. When the " +
				"time is over before, the status says that it still works: call again.",
			Input: Object([]string{"run_id"}, runArgument,
				`"wait_ms":{`+waitBound+`,"default":50000,"description":"how long to wait"}`),
			Output: run, ReadOnly: true, Idempotent: true}, s.runWait),
		AddTool(s, Tool{Name: "run_attach", Title: "Stream a run",
			Description: "Streams the events of a run past a number as progress, where the call has a progress token, " +
				"and gives its result when it has ended. Leaving or cancelling this call never ends the run: run_cancel " +
				"does.",
			Input: Object([]string{"run_id"}, runArgument, afterArgument), Output: run,
			ReadOnly: true, Idempotent: true}, s.runAttach),
	)
}

func (s *Server) addSteering(run json.RawMessage) error {
	return errors.Join(
		AddTool(s, Tool{Name: "run_cancel", Title: "Cancel a run",
			Description: "Asks a run of yours to end, and answers once that is accepted; its last event says how it " +
				"ended. Asking again, or for a run that has ended, does nothing.",
			Input: Object([]string{"run_id"}, runArgument,
				`"reason":{"type":"string","maxLength":1000,"description":"why, for its readers"}`),
			Output: run, Destructive: true, Idempotent: true}, s.runCancel),
		AddTool(s, Tool{Name: "run_answer", Title: "Answer a run",
			Description: "Gives a run of yours the answer that it waits for (status waiting). The request and what it " +
				"asks are in the run's result, and in its input.required event.",
			Input: Object([]string{"run_id", "request", "value"}, runArgument,
				`"request":{"type":"string","description":"which of the run's questions"}`,
				`"value":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},`+
					`{"type":"array"},{"type":"null"}],"description":"the answer, which fits the question's schema"}`),
			Output: run}, s.runAnswer),
	)
}

type startArguments struct {
	Job      string            `json:"job"`
	Input    json.RawMessage   `json:"input"`
	Labels   map[string]string `json:"labels"`
	Key      string            `json:"key"`
	Detached *bool             `json:"detached"`
}

func (s *Server) runStart(ctx context.Context, a startArguments) (*Result, error) {
	if s.jobs[a.Job] == nil {
		return nil, caller.Invalid("there is no job %q; there are %q", a.Job, slices.Sorted(maps.Keys(s.jobs)))
	}
	mode := messages.Detached
	if a.Detached != nil && !*a.Detached {
		mode = messages.Attached
	}
	session := wire.From(ctx).Session()
	if mode == messages.Attached && session == nil {
		return nil, caller.Invalid("there is no session that the run could end with; start it detached, and end it with " +
			"run_cancel")
	}
	state, err := s.Start(ctx, a.Job, a.Input, StartOptions{Labels: a.Labels, Key: a.Key, Mode: mode})
	if err != nil {
		return nil, err
	}
	if state.Queued.Mode == messages.Attached { // a run that has the key already may be another
		go s.endWith(sessionContext{context.WithoutCancel(ctx), session.Done()}, state)
	}
	return s.stands(ctx, state), nil
}

type runArguments struct {
	RunID messages.RunID `json:"run_id"`
}

func (s *Server) runGet(ctx context.Context, a runArguments) (*Result, error) {
	return s.tell(ctx, a.RunID)
}

func (s *Server) tell(ctx context.Context, id messages.RunID) (*Result, error) {
	state, err := s.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.stands(ctx, state), nil
}

// stands says where the run stands. That it failed, however quickly, is not a failure to say so.
func (s *Server) stands(ctx context.Context, state messages.State) *Result {
	result := s.Result(ctx, state)
	result.IsError = false
	return result
}

type cancelArguments struct {
	RunID  messages.RunID `json:"run_id"`
	Reason string         `json:"reason"`
}

func (s *Server) runCancel(ctx context.Context, a cancelArguments) (*Result, error) {
	if _, err := s.Run(ctx, a.RunID); err != nil {
		return nil, err
	}
	if err := s.runs.CancelOwn(ctx, a.RunID, a.Reason); err != nil {
		return nil, err
	}
	return s.tell(ctx, a.RunID)
}

type answerArguments struct {
	RunID   messages.RunID  `json:"run_id"`
	Request string          `json:"request"`
	Value   json.RawMessage `json:"value"`
}

// runAnswer holds the answer to the schema that the question has. Whether there is the question is for the run to say.
func (s *Server) runAnswer(ctx context.Context, a answerArguments) (*Result, error) {
	state, err := s.Run(ctx, a.RunID)
	if err != nil {
		return nil, err
	}
	for _, q := range caller.Questions(state) {
		if q.Request == a.Request && len(q.Schema) > 0 {
			err = question.Check(q.Schema, a.Value)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.runs.Answer(ctx, a.RunID, a.Request, a.Value, gate.From(ctx).Name); err != nil {
		return nil, err
	}
	return s.tell(ctx, a.RunID)
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
