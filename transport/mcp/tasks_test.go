package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

// Capabilities of clients.
var (
	plain = map[string]any{}
	asks  = map[string]any{"elicitation": map[string]any{}}
	tasks = map[string]any{"extensions": map[string]any{tasksExtension: map[string]any{}}}
	both  = map[string]any{"elicitation": map[string]any{}, "extensions": tasks["extensions"]}
)

// The jobs of these tests. What they wait for is theirs to say.
type noInput struct{}

func greet(_ context.Context, _ *actors.TaskContext, in struct {
	Name string `json:"name"`
}) (string, error) {
	return "Hello, " + in.Name + "!", nil
}

// waits until it is cancelled.
func waits(ctx context.Context, _ *actors.TaskContext, _ noInput) (string, error) {
	<-ctx.Done()
	return "", context.Cause(ctx)
}

func fails(context.Context, *actors.TaskContext, noInput) (string, error) {
	return "", errors.New("the disk is full")
}

func panics(context.Context, *actors.TaskContext, noInput) (string, error) {
	panic("the job is broken")
}

// confirm asks one question.
func confirm(ctx context.Context, t *actors.TaskContext, _ noInput) (string, error) {
	answer, err := t.Ask(ctx, messages.InputRequired{Request: "sure", Prompt: "Delete it?",
		Schema: json.RawMessage(`{"type":"boolean"}`)})
	return "answered " + string(answer), err
}

// twoQuestions asks two questions at once.
func twoQuestions(ctx context.Context, t *actors.TaskContext, _ noInput) (map[string]json.RawMessage, error) {
	answers := make(chan json.RawMessage, 1)
	t.Go(func(ctx context.Context) error {
		a, err := t.Ask(ctx, messages.InputRequired{Request: "name", Prompt: "Your name?"})
		answers <- a
		return err
	})
	b, err := t.Ask(ctx, messages.InputRequired{Request: "size", Prompt: "Which size?",
		Schema: json.RawMessage(`{"type":"object","required":["size"],
			"properties":{"size":{"type":"integer","minimum":1}}}`)})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answers:
		return map[string]json.RawMessage{"name": a, "size": b}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func testJobs() []actors.Definition {
	return []actors.Definition{
		actors.Func("greet", greet), actors.Func("waits", waits),
		actors.Func("fails", fails), actors.Func("panics", panics),
		actors.Func("confirm", confirm), actors.Func("two", twoQuestions),
	}
}

// taskDoor is a door with the jobs of these tests; their tools are told to be quick about it.
func taskDoor(t *testing.T) (*mcp.Server, *actors.System) {
	t.Helper()
	s, system := doorTo(t, mcp.Config{Poll: 50 * time.Millisecond, Retention: time.Hour}, testJobs())
	for _, tool := range []mcp.JobTool{{Job: "greet"}, {Job: "waits"}, {Job: "fails"}, {Job: "panics"}, {Job: "confirm"},
		{Job: "two"}, {Job: "greet", Name: "always", Tasks: mcp.TasksRequired},
		{Job: "greet", Name: "never", Tasks: mcp.TasksForbidden}} {
		add(t, s, tool)
	}
	return s, system
}

// taskView is a task as clients read it.
type taskView struct {
	ID      messages.RunID `json:"taskId"`
	Status  string         `json:"status"`
	Message string         `json:"statusMessage"`
	Result  *struct {
		IsError    bool                       `json:"isError"`
		Structured mcp.RunResult              `json:"structuredContent"`
		Meta       map[string]json.RawMessage `json:"_meta"`
	} `json:"result"`
	Error *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	Inputs map[string]struct {
		Method string `json:"method"`
		Params struct {
			Message string         `json:"message"`
			Schema  map[string]any `json:"requestedSchema"`
		} `json:"params"`
	} `json:"inputRequests"`
}

func read[T any](t *testing.T, data json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// result is the result of a request that must succeed.
func (m message) result(t *testing.T) json.RawMessage {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("%d %s %s", m.Error.Code, m.Error.Message, m.Error.Data)
	}
	return m.Result
}

// code is the code of a request's error, which must be one.
func (m message) code(t *testing.T) int {
	t.Helper()
	if m.Error == nil {
		t.Fatalf("no error: %s", m.Result)
	}
	return m.Error.Code
}

func keysOf(t *testing.T, object json.RawMessage) string {
	t.Helper()
	return strings.Join(slices.Sorted(maps.Keys(read[map[string]json.RawMessage](t, object))), " ")
}

// begin calls the tool and returns the task that the call became.
func begin(t *testing.T, c *client, tool string, arguments any) taskView {
	t.Helper()
	task := read[taskView](t, c.callTool(tool, arguments, nil).response().result(t))
	if task.ID == "" {
		t.Fatalf("%s made no task", tool)
	}
	return task
}

// update answers questions of the task.
func (c *client) update(id messages.RunID, responses map[string]any) message {
	return c.do("tasks/update", map[string]any{"taskId": string(id), "inputResponses": responses})
}

// becomes asks for the task until it is as wanted.
func becomes(t *testing.T, c *client, id messages.RunID, status string, inputs int) taskView {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		task := read[taskView](t, c.do("tasks/get", about(id)).result(t))
		if task.Status == status && len(task.Inputs) >= inputs {
			return task
		}
		ended := task.Status == "completed" || task.Status == "failed" || task.Status == "cancelled"
		if ended || time.Now().After(deadline) {
			t.Fatalf("the task is %+v, not %s", task, status)
		}
	}
}

func inModern(t *testing.T, test func(t *testing.T, how era)) {
	for _, how := range []era{modernHTTP, modernStdio} {
		t.Run(how.String(), func(t *testing.T) { test(t, how) })
	}
}

// Issue 5: "task (the io.modelcontextprotocol/tasks extension: in the journal before the reply, get, update, cancel,
// input_required, ttl, poll interval". The result of the call is the task and noInput else.
func TestCallBecomesATask(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, system := taskDoor(t)
		c := dialAs(t, s, how, as{principal: "ann", capabilities: tasks})
		created := c.callTool("waits", map[string]any{}, nil).response().result(t)
		const want = "_meta createdAt lastUpdatedAt pollIntervalMs resultType status taskId ttlMs"
		if got := strings.Replace(keysOf(t, created), " statusMessage", "", 1); got != want {
			t.Errorf("the result has %s, not %s", got, want)
		}
		r := read[struct {
			Type    string                     `json:"resultType"`
			ID      messages.RunID             `json:"taskId"`
			Status  string                     `json:"status"`
			Created time.Time                  `json:"createdAt"`
			Updated time.Time                  `json:"lastUpdatedAt"`
			TTL     int64                      `json:"ttlMs"`
			Poll    int64                      `json:"pollIntervalMs"`
			Meta    map[string]json.RawMessage `json:"_meta"`
		}](t, created)
		state, err := system.State(t.Context(), r.ID)
		if err != nil || state.Queued.Principal != "ann" || state.Queued.Mode != messages.Detached {
			t.Fatalf("the run of the task is %+v, %v", state.Queued, err)
		}
		if r.Type != "task" || r.Status != "working" || !r.Created.Equal(state.QueuedAt) || r.Updated.Before(r.Created) ||
			r.TTL != 3600_000 || r.Poll != 50 || r.Meta["io.modelcontextprotocol/serverInfo"] == nil {
			t.Errorf("the result is %s", created)
		}
		got := c.do("tasks/get", map[string]any{"taskId": string(r.ID)}).result(t)
		if read[struct {
			Type string `json:"resultType"`
		}](t, got).Type != "complete" || read[taskView](t, got).Status != "working" {
			t.Errorf("tasks/get answers %s", got)
		}
	})
}

// A finished task has the result that the call would have had, and tells which task it is at the root alone.
func TestFinishedTaskHasTheToolsResult(t *testing.T) {
	s, _ := taskDoor(t)
	c := dialAs(t, s, modernHTTP, as{capabilities: tasks})
	task := becomes(t, c, begin(t, c, "greet", map[string]any{"name": "Ann"}).ID, "completed", 0)
	if task.Result == nil || task.Result.IsError || task.Error != nil ||
		string(task.Result.Structured.Result) != `"Hello, Ann!"` {
		t.Fatalf("%+v", task)
	}
	if task.Result.Meta["io.modelcontextprotocol/related-task"] != nil {
		t.Error("the result names the task once more")
	}
	without := dialAs(t, s, modernHTTP, as{})
	direct := without.callTool("greet", map[string]any{"name": "Ann"}, nil).response().toolResult(t)
	if direct.ResultType != "complete" || direct.Structured.Status != task.Result.Structured.Status ||
		string(direct.Structured.Result) != string(task.Result.Structured.Result) {
		t.Errorf("called directly it is %+v", direct)
	}
}

// The server decides per call, by what this very request declares; params.task is of another protocol.
func TestWhichCallsBecomeTasks(t *testing.T) {
	s, _ := taskDoor(t)
	ann := map[string]any{"name": "Ann"}
	for _, c := range []struct {
		tool         string
		capabilities map[string]any
		task         bool
		code         int
	}{
		{"greet", tasks, true, 0}, {"greet", plain, false, 0},
		{"never", tasks, false, 0}, {"never", plain, false, 0},
		{"always", tasks, true, 0}, {"always", plain, false, -32021},
	} {
		m := dialAs(t, s, modernHTTP, as{capabilities: c.capabilities}).do("tools/call", map[string]any{
			"name": c.tool, "arguments": ann, "task": map[string]any{"ttl": 1000}})
		if c.code != 0 {
			if m.code(t) != c.code || !strings.Contains(string(m.Error.Data),
				`"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
				t.Errorf("%s: %+v", c.tool, m.Error)
			}
			continue
		}
		if got := read[taskView](t, m.result(t)).ID != ""; got != c.task {
			t.Errorf("%s, declared %v: a task is %v", c.tool, c.capabilities, got)
		}
	}
}

// The methods are for who declared the extension, and those that 2026-07-28 took away are gone.
func TestTaskMethodsAreTheExtensions(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		some := map[string]any{"taskId": "r_none", "inputResponses": map[string]any{}}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if code := dialAs(t, s, how, as{}).do(method, some).code(t); code != -32021 {
				t.Errorf("%s without the extension: %d", method, code)
			}
			if code := dialAs(t, s, how, as{capabilities: tasks}).do(method, some).code(t); code != -32602 {
				t.Errorf("%s of no task: %d", method, code)
			}
		}
		for _, method := range []string{"tasks/list", "tasks/result"} {
			if code := dialAs(t, s, how, as{capabilities: tasks}).do(method, some).code(t); code != -32601 {
				t.Errorf("%s: %d", method, code)
			}
		}
	})
}

// DESIGN 9: "a run is visible to its principal alone (404 to others)". Another's task is like one that never was, and in no
// list.
func TestTaskOfAnotherPrincipalIsNone(t *testing.T) {
	s, system := taskDoor(t)
	id := begin(t, dialAs(t, s, modernHTTP, as{principal: "ann", capabilities: tasks}), "waits", map[string]any{}).ID
	legacy := dialAs(t, s, legacyHTTP, as{principal: "bob"})
	for bob, methods := range map[*client][]string{
		dialAs(t, s, modernHTTP, as{principal: "bob", capabilities: tasks}): {"tasks/get", "tasks/update", "tasks/cancel"},
		legacy: {"tasks/get", "tasks/result", "tasks/cancel"},
	} {
		for _, method := range methods {
			foreign, none := bob.do(method, about(id)), bob.do(method, about("r_none"))
			if foreign.code(t) != -32602 || none.code(t) != -32602 ||
				strings.ReplaceAll(foreign.Error.Message, string(id), "r_none") != none.Error.Message ||
				string(foreign.Error.Data) != string(none.Error.Data) {
				t.Errorf("%s: %+v, but of none %+v", method, foreign.Error, none.Error)
			}
		}
	}
	if list := string(legacy.do("tasks/list", nil).result(t)); list != `{"tasks":[]}` {
		t.Errorf("the list is %s", list)
	}
	if state, err := system.State(t.Context(), id); err != nil || state.Canceling {
		t.Errorf("the run was touched: %+v, %v", state, err)
	}
}

// "tool error (isError) => completed, failed only for JSON-RPC errors": a crashed child gives one failed task.
func TestTaskEndsAsItsRun(t *testing.T) {
	s, _ := taskDoor(t)
	c := dialAs(t, s, modernHTTP, as{capabilities: tasks})
	failed := becomes(t, c, begin(t, c, "fails", map[string]any{}).ID, "completed", 0)
	if failed.Result == nil || !failed.Result.IsError || failed.Error != nil ||
		!strings.Contains(failed.Message, "the disk is full") {
		t.Errorf("an error of the work is %+v", failed)
	}
	crashed := becomes(t, c, begin(t, c, "panics", map[string]any{}).ID, "failed", 0)
	if crashed.Result != nil || crashed.Error == nil || crashed.Error.Code != -32603 || crashed.Error.Message == "" ||
		crashed.Error.Data["run_id"] != string(crashed.ID) || crashed.Error.Data["cause"] != "panic" {
		t.Errorf("a crash is %+v", crashed)
	}
	if strings.Contains(crashed.Error.Message, "goroutine ") {
		t.Errorf("the stack is told: %s", crashed.Error.Message)
	}
}

// tasks/cancel is acknowledged and no more, again and again.
func TestTaskIsCancelled(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{capabilities: tasks})
		id := begin(t, c, "waits", map[string]any{}).ID
		for range 3 {
			ack := c.do("tasks/cancel", about(id)).result(t)
			if keysOf(t, ack) != "_meta resultType" || !strings.Contains(string(ack), `"resultType":"complete"`) {
				t.Fatalf("the answer is %s", ack)
			}
		}
		if task := becomes(t, c, id, "cancelled", 0); task.Result != nil || task.Error != nil {
			t.Errorf("%+v", task)
		}
		if ack := c.do("tasks/cancel", about(id)).result(t); keysOf(t, ack) != "_meta resultType" {
			t.Errorf("the answer for an ended task is %s", ack)
		}
	})
}

// A task that waits shows its questions, and goes on with each answer; keys that are unknown or stale do noInput.
func TestTaskIsAnswered(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{capabilities: both})
		id := begin(t, c, "two", map[string]any{}).ID
		task := becomes(t, c, id, "input_required", 2)
		name, size := task.Inputs["name"], task.Inputs["size"]
		if name.Method != "elicitation/create" || name.Params.Message != "Your name?" ||
			name.Params.Schema["type"] != "object" || size.Params.Message != "Which size?" ||
			size.Params.Schema["properties"].(map[string]any)["size"] == nil {
			t.Fatalf("the questions are %+v", task.Inputs)
		}
		update := func(responses map[string]any) message { return c.update(id, responses) }
		ack := update(map[string]any{"name": accepted(map[string]any{"value": "Ann"}),
			"unknown": map[string]any{"x": 1}}).result(t)
		if keysOf(t, ack) != "_meta resultType" {
			t.Errorf("the answer is %s", ack)
		}
		task = becomes(t, c, id, "input_required", 1)
		if _, still := task.Inputs["name"]; still || len(task.Inputs) != 1 {
			t.Fatalf("after one answer the questions are %+v", task.Inputs)
		}
		update(map[string]any{"name": accepted(map[string]any{"value": "Bob"})}).result(t)
		for _, bad := range []any{7, "x", map[string]any{}, map[string]any{"action": "shrug"}, accepted(nil),
			accepted(map[string]any{"size": 0}), accepted(map[string]any{"size": "big"})} {
			if code := update(map[string]any{"size": bad}).code(t); code != -32602 {
				t.Errorf("%v was taken: %d", bad, code)
			}
		}
		update(map[string]any{"size": accepted(map[string]any{"size": 3})}).result(t)
		done := becomes(t, c, id, "completed", 0)
		if got := string(done.Result.Structured.Result); got != `{"name":"Ann","size":{"size":3}}` {
			t.Errorf("the result is %s", got)
		}
	})
}

// A task that asked takes the answer that is none, and waits on where there is not even that.
func TestTaskWhoseQuestionIsLeft(t *testing.T) {
	for action, status := range map[string]string{"decline": "completed", "cancel": "input_required"} {
		s, _ := taskDoor(t)
		c := dialAs(t, s, modernHTTP, as{capabilities: both})
		id := begin(t, c, "confirm", map[string]any{}).ID
		becomes(t, c, id, "input_required", 1)
		c.update(id, map[string]any{"sure": map[string]any{"action": action}}).result(t)
		task := becomes(t, c, id, status, map[string]int{"cancel": 1}[action])
		if action == "decline" && string(task.Result.Structured.Result) != `"answered null"` {
			t.Errorf("%+v", task.Result)
		}
	}
}

// Requests are sent only for what the client declared: one that cannot ask its user is told another way.
func TestTaskOfAClientThatCannotAsk(t *testing.T) {
	s, system := taskDoor(t)
	c := dialAs(t, s, modernHTTP, as{capabilities: tasks})
	id := begin(t, c, "confirm", map[string]any{}).ID
	for e, err := range system.Events(t.Context(), id, 0) {
		must(t, err)
		if e.Kind() == messages.KindInputRequired {
			break
		}
	}
	task := becomes(t, c, id, "working", 0)
	if len(task.Inputs) > 0 || !strings.Contains(task.Message, "Delete it?") ||
		!strings.Contains(task.Message, "run_answer") {
		t.Errorf("%+v", task)
	}
}

// slowJournal takes its time for every block, as a disk does.
type slowJournal struct{ *journal.Memory }

func (j slowJournal) Append(b journal.Block, done func(error)) {
	time.AfterFunc(2*time.Millisecond, func() { j.Memory.Append(b, done) })
}

// Who was told that an answer is taken does not find the question again: the answer is in the journal before the
// reply, as the task itself is.
func TestRepliesAreDurable(t *testing.T) {
	system, err := actors.New(t.Context(), actors.Config{Jobs: testJobs(), Journal: slowJournal{journal.NewMemory()}})
	must(t, err)
	s := serverOf(t, mcp.Config{Runs: system, Name: "lastword", Version: "test"}, mcp.JobTool{Job: "two"})
	c := dialAs(t, s, modernHTTP, as{capabilities: both})
	id := begin(t, c, "two", map[string]any{}).ID
	if task := read[taskView](t, c.do("tasks/get", about(id)).result(t)); task.ID != id {
		t.Errorf("right after it was made the task is %+v", task)
	}
	becomes(t, c, id, "input_required", 2)
	for _, answer := range []map[string]any{{"name": accepted(map[string]any{"value": "Ann"})},
		{"size": accepted(map[string]any{"size": 3})}} {
		c.update(id, answer).result(t)
		task := read[taskView](t, c.do("tasks/get", about(id)).result(t))
		for request := range answer {
			if _, still := task.Inputs[request]; still {
				t.Errorf("%s was answered, and is asked: %+v", request, task)
			}
		}
	}
	becomes(t, c, id, "completed", 0)
}

// heldJournal takes no answer before it is told to, and says when one has come.
type heldJournal struct {
	*journal.Memory
	came, take chan struct{}
}

func (j heldJournal) Append(b journal.Block, done func(error)) {
	if !slices.ContainsFunc(b.Events, func(e messages.Event) bool { return e.Kind() == messages.KindInputReceived }) {
		j.Memory.Append(b, done)
		return
	}
	close(j.came)
	go func() { <-j.take; j.Memory.Append(b, done) }()
}

// A key that was answered already is passed over, also where the first answer is only on its way into the journal.
func TestSecondAnswerIsPassedOver(t *testing.T) {
	held := heldJournal{journal.NewMemory(), make(chan struct{}), make(chan struct{})}
	system, err := actors.New(t.Context(), actors.Config{Jobs: testJobs(), Journal: held})
	must(t, err)
	s := serverOf(t, mcp.Config{Runs: system, Name: "lastword", Version: "test"}, mcp.JobTool{Job: "confirm"})
	c := dialAs(t, s, modernHTTP, as{capabilities: both})
	id := begin(t, c, "confirm", map[string]any{}).ID
	becomes(t, c, id, "input_required", 1)
	answer := func(value bool) *exchange {
		return c.start("tasks/update", map[string]any{"taskId": string(id),
			"inputResponses": map[string]any{"sure": accepted(map[string]any{"value": value})}})
	}
	first := answer(true)
	<-held.came
	answer(false).response().result(t)
	close(held.take)
	first.response().result(t)
	if done := becomes(t, c, id, "completed", 0); string(done.Result.Structured.Result) != `"answered true"` {
		t.Errorf("%+v", done.Result)
	}
}
