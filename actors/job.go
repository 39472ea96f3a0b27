package actors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Job is a kind of work with its input: tasks that run one after the other.
type Job struct {
	// Name is the kind of work, for example generate.
	Name string
	// Title says in a few words what a run with this input is about, for lists. Without one they show the first text of
	// Input. Neither must hold secrets.
	Title string
	// Input becomes the JSON input of run.queued.
	Input any
	// Tasks run in this order, each in a child actor of the run. There is at least one. Closures may share variables,
	// since a task begins after the task before it has returned.
	Tasks []Task
	// Restart says that the job may be called again. Then another node, or the next start of this one, continues a
	// run whose node was lost. Every task that had begun gets another attempt, from the first on. Steps that [Do] has
	// kept are not repeated, answers and sub-runs in the log are found again, and [TaskContext.Earlier] returns the
	// rest of the log.
	//
	// Without Restart the run continues if its newest task has asked for a step, if that task's Policy has RetryCrash,
	// or if the run was waiting for people. Else it fails with node_lost. A run whose task with Once had begun never
	// starts again: to continue in the middle of such work, make it a step with [DoOnce].
	Restart bool
	// NoRestart says that no node may call the job again after its node was lost, whatever else the job says.
	NoRestart bool
	// Version is the version of the job's code, and is in run.queued. If a run goes on with another version, a kept
	// step that the code no longer asks for is an error, and not a notice.
	Version string
	// Messages says that its tasks take what is said to a run that works: see [TaskContext.Messages].
	Messages bool
	// Conversation is the conversation that the run is a turn of, or "". Turns of one principal's conversation begin
	// one after the other: see Options.Busy.
	Conversation string
	// Models are the models that its tasks call, as far as the job knows; "" is one that is chosen later. With a budget
	// of money each needs a price.
	Models []string

	limits messages.Limits // of its Definition
}

// Task is one part of a job.
type Task struct {
	// Name is unique in its job and safe in a file name.
	Name string
	// Run does the work. It should return context.Cause(ctx) soon after ctx is done.
	Run func(ctx context.Context, t *TaskContext) error
	// Policy decides what follows a failed attempt. The zero value retries a retryable error (supervision.RetryAfter,
	// or a messages.Error with Retryable) up to twice, and no other error.
	Policy supervision.Policy
	// Deadline is the longest that one attempt may take; 0 means only the run's own limits.
	Deadline time.Duration
	// Once: the task must not be called twice. It is called when its start is durable, and no other node calls it
	// again. A Policy that retries still does so after the attempt has returned.
	Once bool
}

// Definition describes a kind of job. Config.Jobs lists those that a node knows by name.
type Definition struct {
	// Name is the name of the jobs that New makes.
	Name string
	// JobSpec is what doors, plans and people need to know: title, schemas, effects.
	messages.JobSpec
	// Restart and NoRestart set the same fields of every [Job] that New makes. Version is the version of jobs without one.
	Restart, NoRestart bool
	Version            string
	// New makes a job from its JSON input. Bad input is an invalid_input error.
	New func(input json.RawMessage) (Job, error)
	// SubJobs are jobs that only its tasks start, as sub-runs. A System knows them too, and [System.Jobs] does not list them.
	SubJobs []Definition
	// Wrong says why the job cannot work, such as a field that its configuration lacks. A System refuses such a job.
	Wrong error
}

// Options are what a caller wants of a run. The zero value is a detached run without labels, with the node's limits.
type Options struct {
	Principal string
	// Mode is Detached if empty. An Attached run is cancelled when the context given to Start is done.
	Mode   messages.Mode
	Labels map[string]string
	Limits messages.Limits
	// Busy says what becomes of the start in a conversation whose turn works: it waits, or with BusyReject it is a
	// conflict. Only Submit steers.
	Busy messages.Busy
	// Replaces is a run that waits for its turn in the conversation: this one gets its place, and it is canceled. If it has
	// begun, that is a conflict.
	Replaces messages.RunID
	// Key makes Start idempotent for one principal. For a sub-run it is the name by which every attempt finds it.
	Key string
}

// find returns the position of the task with the name, or -1.
func (j *Job) find(task string) int {
	return slices.IndexFunc(j.Tasks, func(t Task) bool { return t.Name == task })
}

// validate checks the job's name, and the names and functions of its tasks.
func (j Job) validate() error {
	if j.Name == "" || len(j.Name) > mostName || len(j.Tasks) == 0 {
		return messages.InvalidInput("a job needs a name of at most %d bytes, and at least one task", mostName)
	}
	seen := map[string]bool{}
	for _, t := range j.Tasks {
		if t.Name == "" || len(t.Name) > mostName || t.Run == nil || seen[t.Name] {
			return messages.InvalidInput("job %s: task %q needs a Run function and a unique name of at most %d bytes", j.Name, t.Name, mostName)
		}
		if t.Name[0] == '.' || strings.ContainsRune(t.Name, '/') || !utf8.ValidString(t.Name) {
			return messages.InvalidInput("job %s: task %q needs a name that is safe in a file name", j.Name, t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// queued makes the run's first event, and bounds what the caller gave.
func (j Job) queued(o Options) (messages.RunQueued, error) {
	if err := j.validate(); err != nil {
		return messages.RunQueued{}, err
	}
	q := messages.RunQueued{Job: j.Name, Version: j.Version, Title: messages.Bound(j.Title, mostName), Principal: o.Principal, Mode: o.Mode, Labels: maps.Clone(o.Labels), Limits: o.Limits.Or(j.limits)}
	if j.Conversation != "" && q.Labels[messages.ContextLabel] == "" { // lists find the turns by it
		if q.Labels == nil {
			q.Labels = map[string]string{}
		}
		q.Labels[messages.ContextLabel] = j.Conversation
	}
	switch q.Mode {
	case "":
		q.Mode = messages.Detached
	case messages.Attached, messages.Detached:
	default:
		return q, messages.InvalidInput("mode %q is neither attached nor detached", q.Mode)
	}
	if j.Input == nil {
		return q, nil
	}
	input, err := jsonwalk.Marshal(j.Input)
	if err != nil {
		return q, messages.InvalidInput("job %s: the input is not JSON: %v", j.Name, err)
	}
	q.Input = input
	return q, nil
}

// taskMessage returns the sentence of a task's milestone.
func taskMessage(task, what, detail string) string {
	if detail == "" {
		return task + " " + what
	}
	return fmt.Sprintf("%s %s: %s", task, what, detail)
}

// Func defines a job by a plain function: a single task, with the job's name. Effects of f outside of [Do] may happen
// twice once f has called Do, or once Restart or a Policy with RetryCrash is set: if the node is lost, another attempt
// calls f again. Without all of them such a run fails with node_lost.
//
// The input is JSON for an In. An unknown
// field or a value that does not fit is invalid_input; no input is the zero In. If In is not a JSON object, the input
// may also be an object whose member "input" is the In. The value that f returns is the run's result. An error or a
// panic of f fails the run, as in any task. f may ignore its TaskContext. Schemas come from the types; see package
// form for the tags of their fields.
//
//	actors.Func("greet", func(_ context.Context, _ *actors.TaskContext, name string) (string, error) {
//		return "Hello, " + name + ".", nil
//	})
func Func[In, Out any](name string, f func(ctx context.Context, t *TaskContext, in In) (Out, error)) Definition {
	type member struct {
		Input In `json:"input"`
	}
	isMember := sync.OnceValue(func() bool { return !jobschema.TakesObject[In]() })
	d := Definition{Name: name, JobSpec: messages.JobSpec{Title: name, Output: jobschema.Result[Out](), Input: func() json.RawMessage {
		if isMember() {
			return jobschema.Input[member]()()
		}
		return jobschema.Input[In]()()
	}}}
	job := func(in In) (Job, error) {
		work := func(ctx context.Context, t *TaskContext) error {
			out, err := f(ctx, t, in)
			if err != nil {
				return err
			}
			return t.Result(out, false)
		}
		return Job{Name: name, Input: in, Tasks: []Task{{Name: name, Run: work}}}, nil
	}
	plain, ofMember := Typed(job), Typed(func(one member) (Job, error) { return job(one.Input) })
	d.New = func(input json.RawMessage) (Job, error) {
		if bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) && isMember() {
			return ofMember(input)
		}
		return plain(input)
	}
	return d
}

// Typed makes the New of a [Definition] from a function that takes a Go type. Input that does not fit the type is
// invalid_input.
func Typed[In any](job func(in In) (Job, error)) func(input json.RawMessage) (Job, error) {
	return func(input json.RawMessage) (Job, error) {
		in, err := jobschema.Read[In](input)
		if err != nil {
			return Job{}, err
		}
		return job(in)
	}
}

// mostName bounds the names of jobs, tasks, principals and keys, in bytes. mostLabels bounds a run's labels, in
// bytes.
const (
	mostName   = 1 << 10
	mostLabels = 16 << 10
)

// check returns why a task may not emit the body, or nil. Only the run reports on itself, its tasks, its children and
// its questions.
func check(body messages.Body, message string) error {
	if body == nil {
		return messages.InvalidInput("an event needs a body")
	}
	if k := messages.KindOf(body); !k.TaskMaySay() {
		return messages.InvalidInput("a task must not emit %s itself: return from it, or use Do, Ask or Start", k)
	}
	return log.Storable(body, message)
}

// queued makes the first event of a run, and checks everything that the caller gave. The job gets what its definition
// says of recovery.
func (s *System) queued(j *Job, o Options, child bool) (q messages.RunQueued, err error) {
	if d := s.definition(j.Name); d != nil {
		d.describe(j)
	}
	if err = s.guarded(func() (err error) { q, err = j.queued(o); return err }); err != nil {
		return q, err
	}
	labels := 0
	for name, value := range o.Labels {
		labels += len(name) + len(value)
	}
	if labels > mostLabels {
		return q, messages.InvalidInput("the labels take %d bytes: they may take %d", labels, mostLabels)
	}
	if len(j.Version) > mostName || !utf8.ValidString(j.Version) {
		return q, messages.InvalidInput("the version of the job %s has at most %d bytes of UTF-8", j.Name, mostName)
	}
	if len(o.Principal) > mostName || len(o.Key) > mostName || strings.ContainsRune(o.Key, 0) || !utf8.ValidString(o.Key) {
		return q, messages.InvalidInput("a principal and a key have at most %d bytes, and a key is text without NUL", mostName)
	}
	switch o.Busy {
	case "", messages.BusyQueue, messages.BusySteer, messages.BusyInterrupt, messages.BusyReject:
	default:
		return q, messages.InvalidInput("busy is %s, %s, %s or %s, not %.32q",
			messages.BusyQueue, messages.BusySteer, messages.BusyInterrupt, messages.BusyReject, o.Busy)
	}
	if o.Replaces != "" && o.Busy != "" && o.Busy != messages.BusyQueue {
		return q, messages.InvalidInput("a start that replaces a run waits as it did; leave out busy=%s", o.Busy)
	}
	if !child {
		q.Limits.Budget = q.Limits.Budget.Or(s.config.Ceilings.Budget)
	}
	return q, cmp.Or(s.config.Ceilings.allows(o.Limits), s.priced(j.Models, q.Limits.Budget), log.Storable(q, ""))
}
