package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Job is a kind of work with its input: tasks that run one after the other.
type Job struct {
	// Name is the kind of work, for example generate.
	Name string
	// Input is written as JSON into run.queued. It must hold no secrets.
	Input any
	// Tasks run in this order, each in a child actor of the run; at least one. What one leaves for the next is shared by
	// the closures: a task begins after the one before it has returned.
	Tasks []Task
}

// Task is one part of a job.
type Task struct {
	// Name is unique in its job and safe in a file name.
	Name string
	// Run does the work. It should return soon after ctx is done, with context.Cause(ctx).
	Run func(ctx context.Context, t *TaskContext) error
	// Policy says what follows a failed attempt; its zero value retries what is marked retryable and nothing else.
	Policy supervision.Policy
	// Deadline is the longest one attempt may take; 0 is the run's own limit.
	Deadline time.Duration
	// Once says that the task must not be called twice: an attempt is called when its start is known to be durable, and
	// no other node calls it again. A Policy that retries calls it again all the same, when the attempt has returned.
	Once bool
}

// NewJob makes a job from the JSON input of a [messages.Request]. It answers bad input with an invalid_input error.
type NewJob func(input json.RawMessage) (Job, error)

// Options are a caller's wishes for a run. The zero value is an unlabelled detached run with the node's limits.
type Options struct {
	Principal string
	// Mode is Detached where it is empty. An Attached run is cancelled when the context given to Start is done.
	Mode   messages.Mode
	Labels map[string]string
	Limits messages.Limits
	// Key makes Start idempotent per principal; of a sub-run it is the name under which every attempt finds it.
	Key string
}

func (j Job) validate() error {
	if j.Name == "" || len(j.Tasks) == 0 {
		return invalid("a job needs a name and at least one task")
	}
	seen := map[string]bool{}
	for _, t := range j.Tasks {
		if t.Name == "" || t.Run == nil || seen[t.Name] {
			return invalid("job %s: task %q needs a function and a name of its own", j.Name, t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func (j Job) queued(o Options) (messages.RunQueued, error) {
	if err := j.validate(); err != nil {
		return messages.RunQueued{}, err
	}
	q := messages.RunQueued{Job: j.Name, Principal: o.Principal, Mode: o.Mode, Labels: maps.Clone(o.Labels), Limits: o.Limits}
	switch q.Mode {
	case "":
		q.Mode = messages.Detached
	case messages.Attached, messages.Detached:
	default:
		return q, invalid("mode %q is neither attached nor detached", q.Mode)
	}
	if j.Input == nil {
		return q, nil
	}
	input, err := json.Marshal(j.Input)
	if err != nil {
		return q, invalid("job %s: the input is not JSON: %v", j.Name, err)
	}
	q.Input = input
	return q, nil
}

func invalid(format string, args ...any) error {
	return messages.Errorf(messages.Code(messages.CauseInvalidInput), format, args...)
}

// taskMessage is the sentence that goes with a task's milestone.
func taskMessage(task, what, detail string) string {
	if detail == "" {
		return task + " " + what
	}
	return fmt.Sprintf("%s %s: %s", task, what, detail)
}
