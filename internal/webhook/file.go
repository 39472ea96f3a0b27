package webhook

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/internal/packed"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
)

// Target is a receiver of events.
type Target struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Secrets sign each message: every secret makes a signature.
	Secrets secrets `json:"secret"`
	// Kinds are the kinds of events to deliver; the default is terminals and questions. Jobs restricts the runs; the
	// default is all.
	Kinds []messages.Kind `json:"kinds"`
	Jobs  []string        `json:"jobs"`
	// AllowPrivate permits http, and addresses that are not public.
	AllowPrivate bool `json:"allow_private"`

	form string // of a callback: its name in Config.Forms, or ""
}

// secrets is a list of texts; in a file, a single text needs no list.
type secrets []string

// UnmarshalJSON reads both forms.
func (s *secrets) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(s))
	}
	*s = secrets{""}
	return json.Unmarshal(data, &(*s)[0])
}

// usual are the kinds for a target that names none.
var usual = []messages.Kind{messages.KindRunCompleted, messages.KindRunFailed, messages.KindRunCanceled, messages.KindInputRequired}

func (t *Target) kinds() []messages.Kind {
	if len(t.Kinds) == 0 {
		return usual
	}
	return t.Kinds
}

// acceptsRun reports whether the target accepts events of the run.
func (t *Target) acceptsRun(q *messages.RunQueued) bool {
	return len(t.Jobs) == 0 || slices.Contains(t.Jobs, q.Job)
}

// acceptsEvent reports whether the target accepts the event. The end of a sub-run concerns only its parent.
func (t *Target) acceptsEvent(q *messages.RunQueued, e messages.Event) bool {
	return slices.Contains(t.kinds(), e.Kind()) && (q.Parent == "" || !e.IsTerminal())
}

// fileSchema is the JSON Schema of an operator's file.
//
//go:embed schema.json.gz
var fileSchema string

var fileForm = sync.OnceValue(func() *validate.Schema { return validate.MustCompile(packed.Text(fileSchema)) })

// Checks are conditions on a file beyond its schema.
type Checks struct {
	Jobs   []string // jobs that exist
	URL    func(Target) error
	Secret func(string) error
}

// Read reads an operator's file, which is YAML. Its error lists all faults, each with line and column.
func Read(text []byte, check Checks) ([]Target, error) {
	var parts struct {
		Webhooks []json.RawMessage `json:"webhooks"`
	}
	places, wrong, ok := validate.ReadYAML(text, fileForm(), &parts)
	if !ok {
		return nil, wrong.Err()
	}
	all, seen := make([]Target, len(parts.Webhooks)), map[string]bool{}
	for i, one := range parts.Webhooks {
		to, place := &all[i], fmt.Sprintf("webhooks.%d", i)
		_ = json.Unmarshal(one, to) // the form has reported any fault
		problem := func(field, format string, args ...any) {
			wrong = append(wrong, places.Problem(place+"."+field, format, args...))
		}
		if seen[to.Name] && to.Name != "" || to.Name == callback {
			problem("name", "there is a webhook %s already", to.Name)
		}
		seen[to.Name] = true
		if err := check.URL(*to); to.URL != "" && err != nil {
			problem("url", "%v", err)
		}
		for _, secret := range to.Secrets {
			if err := check.Secret(secret); err != nil {
				problem("secret", "%v", err)
				break
			}
		}
		for n, kind := range to.Kinds {
			if !slices.Contains(deliverable(), kind) {
				problem(fmt.Sprintf("kinds.%d", n), "no event of kind %s is delivered; there are %s", kind, join(deliverable()))
			}
		}
		for n, job := range to.Jobs {
			if !slices.Contains(check.Jobs, job) {
				problem(fmt.Sprintf("jobs.%d", n), "there is no job %s; there are %s", job, strings.Join(check.Jobs, ", "))
			}
		}
	}
	return all, wrong.Err()
}

// deliverable lists the kinds of milestones, since deltas are only for readers.
var deliverable = sync.OnceValue(func() (all []messages.Kind) {
	for _, k := range messages.Kinds() {
		if k.Level == messages.Milestone {
			all = append(all, k.Kind)
		}
	}
	return all
})

func join(kinds []messages.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}
