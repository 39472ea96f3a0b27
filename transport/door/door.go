package door

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Runs is the runtime as dialects need it. An actors.System is one.
type Runs interface {
	Submit(ctx context.Context, q messages.Request) (messages.RunID, error)
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Follow(ctx context.Context, id messages.RunID, o messages.Follow) iter.Seq2[[]messages.Event, error]
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	Cancel(ctx context.Context, id messages.RunID, by, reason string) error
	Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage, principal string) error
}

// Job is a kind of run that callers may start.
type Job struct {
	Name, Description string
	// Text is the member of the input that takes the text of a [Turn]; "" where the answer is no text.
	Text string
	// Schema is the JSON Schema of the input.
	Schema json.RawMessage
	// Limits bound runs.
	Limits messages.Limits
	// Prepare, which may be nil, changes the input of a caller before it is submitted. Errors: invalid_input.
	Prepare func(ctx context.Context, input json.RawMessage) (json.RawMessage, error)
}

// Config is what every dialect is made of.
type Config struct {
	Runs Runs
	Jobs []Job
	// Open reads artifacts; nil where runs write none.
	Open func(ctx context.Context, run messages.State, artifact messages.Artifact) (io.ReadSeekCloser, error)
	// Heartbeat is the longest that a stream is silent: 15 s. WriteTimeout is how long a client may take to read what
	// was written to it: 30 s.
	Heartbeat, WriteTimeout time.Duration
	// Redact returns what clients may read without the process's secrets; nil changes nothing.
	Redact func([]byte) []byte
}

// Door is a dialect's way to the runtime. It is safe for concurrent use.
type Door struct {
	Config
	jobs map[string]Job
}

// NewDoor returns the door.
func NewDoor(c Config) *Door {
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	if c.Redact == nil {
		c.Redact = func(b []byte) []byte { return b }
	}
	d := &Door{Config: c, jobs: map[string]Job{}}
	for _, job := range c.Jobs {
		d.jobs[job.Name] = job
	}
	return d
}

// Routes serves each pattern of an http.ServeMux with its function. The function's error goes to refuse.
func Routes(routes map[string]func(http.ResponseWriter, *http.Request) error,
	refuse func(http.ResponseWriter, error)) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, serve := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				refuse(w, err)
			}
		})
	}
	return mux
}

// Job returns the job of the name. Errors: invalid_input, which lists the names.
func (d *Door) Job(name string) (Job, error) {
	job, ok := d.jobs[name]
	if !ok {
		names := slices.Sorted(maps.Keys(d.jobs))
		return Job{}, messages.InvalidInput("there is no job %.100q; this server has %q", name, names)
	}
	return job, nil
}

// Start starts a run of the caller; without an input it is {}. Errors: forbidden, invalid_input, and those of the runtime.
func (d *Door) Start(ctx context.Context, q messages.Request) (messages.RunID, error) {
	job, err := d.Job(q.Job)
	if err != nil {
		return "", err
	}
	if len(q.Input) == 0 {
		q.Input = json.RawMessage("{}")
	}
	return d.submit(ctx, q, job, job.Prepare)
}

// submit starts a run of the job for the caller. prepare, which may be nil, changes the input.
func (d *Door) submit(ctx context.Context, q messages.Request, job Job,
	prepare func(context.Context, json.RawMessage) (json.RawMessage, error)) (messages.RunID, error) {
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", err
	}
	q.Principal = auth.From(ctx).Name
	q.Mode, q.Limits = cmp.Or(q.Mode, messages.Detached), cmp.Or(q.Limits, job.Limits)
	if prepare != nil {
		var err error
		if q.Input, err = prepare(ctx, q.Input); err != nil {
			return "", err
		}
	}
	return d.Runs.Submit(ctx, q)
}

// ContextLabel is the label of a run that is a turn of a conversation: the conversation's id.
const ContextLabel = "context"

// Message is the request for an answer: of the job chat in the conversation of the context, without one of the job
// prompt.
func (d *Door) Message(text, context string) messages.Request {
	if context == "" {
		return messages.Request{Job: "prompt", Input: JSON(map[string]string{"text": text})}
	}
	input := map[string]string{"message": text}
	if bytes.Contains(d.jobs["chat"].Schema, []byte(`"context"`)) {
		input["context"] = context
	}
	return messages.Request{Job: "chat", Input: JSON(input), Labels: map[string]string{ContextLabel: context}}
}

// Run returns the State of a run of the caller. Errors: forbidden; not_found, for the runs of others too.
func (d *Door) Run(ctx context.Context, id messages.RunID) (messages.State, error) {
	if err := auth.Require(ctx, auth.ReadRuns); err != nil {
		return messages.State{}, err
	}
	state, err := d.Runs.State(ctx, id)
	if err == nil {
		err = auth.Own(ctx, state)
	}
	return state, err
}

// Turns returns the caller's runs of the context, the newest first, at most limit. Errors: forbidden.
func (d *Door) Turns(ctx context.Context, context string, limit int) ([]messages.Summary, error) {
	if err := auth.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	return d.Runs.List(ctx, messages.Query{Principal: auth.From(ctx).Name, Labels: map[string]string{ContextLabel: context},
		Limit: limit, ByQueued: true})
}

// Newest returns the State of the newest of the Turns, and false if there is none. Errors: forbidden.
func (d *Door) Newest(ctx context.Context, context string) (state messages.State, ok bool, err error) {
	runs, err := d.Turns(ctx, context, 1)
	if err != nil || len(runs) == 0 {
		return state, false, err
	}
	state, err = d.Run(ctx, runs[0].RunID)
	return state, err == nil, err
}

// Cancel asks for the end of a run of the caller. Errors: forbidden, not_found, and those of the runtime.
func (d *Door) Cancel(ctx context.Context, id messages.RunID, reason string) error {
	if err := d.mayChange(ctx, id); err != nil {
		return err
	}
	return d.Runs.Cancel(ctx, id, auth.From(ctx).Name, reason)
}

// Answer answers what a run of the caller asked. Errors: forbidden, not_found, conflict, and those of the runtime.
func (d *Door) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage) error {
	if err := d.mayChange(ctx, id); err != nil {
		return err
	}
	return d.Runs.Answer(ctx, id, request, value, auth.From(ctx).Name)
}

func (d *Door) mayChange(ctx context.Context, id messages.RunID) error {
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return err
	}
	_, err := d.Run(ctx, id)
	return err
}

// File reads a file of a run of the caller. Errors: too_large, for files over most
// bytes, and those of Open.
func (d *Door) File(ctx context.Context, id messages.RunID, a messages.Artifact, most int64) ([]byte, error) {
	if d.Open == nil || a.Bytes > most {
		return nil, messages.Errorf(auth.CodeTooLarge, "the file has more than %d bytes", most)
	}
	run, err := d.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	file, err := d.Open(ctx, run, a)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// ResultText is the result of a run as a text: what it says, or its JSON.
func ResultText(result json.RawMessage) string {
	var text string // stays empty for null
	var object struct{ Text string }
	switch {
	case json.Unmarshal(result, &text) == nil:
		return text
	case json.Unmarshal(result, &object) == nil && object.Text != "":
		return object.Text
	}
	return string(result)
}

// Read returns the body of a request. Errors: too_large, bad_request.
func Read(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if p := auth.ProblemOf(err); p.Code == string(auth.CodeTooLarge) {
			return nil, p
		}
		return nil, messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
	}
	return body, nil
}

// ReadJSON reads the body of a request. Errors: too_large, bad_request.
func ReadJSON(r *http.Request, into any) error {
	body, err := Read(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
	}
	return nil
}
