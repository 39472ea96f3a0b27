package explain

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Run collects what to say about one run. The zero Run has no events. It is not safe for concurrent use.
type Run struct {
	lines    []string
	sum      messages.Summary
	started  time.Time
	waited   messages.State // holds the run's Inputs, Children and Artifacts
	canceled time.Time      // when somebody asked to cancel it
	reason   string         // message of the last failure
	inTask   bool           // the last failure was a task's
	failed   int            // number of failures; mostFailures of them are described
	skipped  []string       // steps of a plan
	running  []string       // tasks
	models   []string
	calls    int
	tools    []string
	over     bool
}

// mostFailures is how many failures are described one by one.
const mostFailures = 6

// Add adds the next event of the log. Deltas tell only how long a process lived.
func (r *Run) Add(e messages.Event) {
	last := r.sum.UpdatedAt
	r.sum.Add(e)
	switch b := e.Body.(type) {
	case messages.RunQueued:
		r.queued(b)
	case messages.RunStarted:
		if r.started = e.Time; r.in() >= time.Second {
			r.say("It waited %s until it began.", took(r.in()))
		}
	case messages.RunRecovered:
		how := "Another process went on with it"
		if b.Restart {
			how = "Another process began again with it"
		}
		r.running = nil
		r.say("The process that ran it ended after %s at the earliest. %s %s later.", took(last.Sub(r.sum.QueuedAt)), how, took(e.Time.Sub(last)))
	case messages.RunCanceling:
		r.canceling(b)
	case messages.TaskStarted:
		r.running = append(r.running, b.Task)
	case messages.TaskRestarted:
		r.running = append(r.running, b.Task)
	case messages.TaskCompleted:
		r.rest(b.Task)
	case messages.TaskFailed:
		r.rest(b.Task)
		then := "It was not tried again."
		if b.WillRetry {
			then = fmt.Sprintf("It was to be tried again after %s.", took(time.Duration(b.DelayMS)*time.Millisecond))
		}
		r.failure(fmt.Sprintf("attempt %d of the task %s", b.Attempt, b.Task), b.Error, then)
	case messages.LLMStarted:
		r.models, r.calls = add(r.models, b.Model), r.calls+1
	case messages.UsageReported:
		r.models, r.calls = add(r.models, b.Model), r.calls+int(b.ModelCalls)
	case messages.BudgetWarning:
		r.say("Most of its %s was spent after %s.", strings.ReplaceAll(b.Unit, "_", " "), took(r.in()))
	case messages.LLMCompleted:
		for _, message := range b.Seen {
			r.say("The model's server has accepted the message %s.", name(message))
		}
		if b.Verdict == string(messages.Failed) {
			r.failure("a call of the model "+b.Model, b.Error, "")
		}
	case messages.ToolStarted:
		r.tools = append(r.tools, b.Tool)
	case messages.ToolCompleted:
		if b.Error != nil {
			r.failure("a call of a tool", b.Error, "")
		}
	case messages.InputRequired:
		r.waited.Inputs = append(r.waited.Inputs, messages.Input{Request: b.Request, Prompt: b.Prompt, Kind: b.InputKind,
			TimeoutMS: b.TimeoutMS, AskedAt: e.Time})
	case messages.InputReceived:
		r.answered(b, e.Time)
	case messages.MessageQueued:
		r.say("%s said to it %q (%s).", cmp.Or(b.Principal, "Somebody"), words.Clip(b.Content, 200), name(b.Message))
	case messages.MessageDelivered:
		r.say("The message %s is part of it from the call %s on.", name(b.Message), name(b.At))
	case messages.MessageDropped:
		r.say("It did not take the message %s: %s.", name(b.Message), strings.ReplaceAll(string(b.Reason), "_", " "))
	case messages.RunHeld:
		r.say("It was held, because the run before it, %s, did not complete.", b.After)
	case messages.RunMoved:
		if b.Replaces != "" {
			r.say("%s replaced the run %s: it waits for %s.", cmp.Or(b.By, "Somebody"), b.Replaces, b.After)
		} else {
			r.say("%s moved it: it waits for %s.", cmp.Or(b.By, "Somebody"), b.After)
		}
	case messages.RunReleased:
		r.say("%s released it.", cmp.Or(b.By, "Somebody"))
	case messages.ChildStarted:
		r.waited.Children = append(r.waited.Children, messages.ChildState{Child: b.Child, Job: b.Job, Status: messages.Processing})
	case messages.ChildEnded:
		if i := slices.IndexFunc(r.waited.Children, func(c messages.ChildState) bool { return c.Child == b.Child }); i >= 0 {
			r.waited.Children[i].Status, r.waited.Children[i].WaitedMS = b.Status, b.WaitedMS
		}
	case messages.StepEnded:
		if b.Outcome == messages.StepSkipped {
			r.skipped = append(r.skipped, b.Step)
		} else if b.Outcome != string(messages.Completed) {
			r.say("The step %s ended as %s%s.", name(b.Step), name(b.Outcome), after(": ", b.Reason))
		}
	case messages.ArtifactWritten:
		r.waited.Artifacts = append(stable.DeleteFunc(r.waited.Artifacts, func(a messages.Artifact) bool { return a.Name == b.Name }), b.Artifact)
	case messages.Notice:
		r.say("It went without something: %s.", strings.TrimSuffix(words.Clip(b.Text, 200), "."))
	case messages.FaultInjected:
		r.say("A test injected the fault %s%s.", name(b.Fault), after(" into the task ", b.Task))
	case messages.RunCompleted:
		r.end("It completed after %s.", took(r.in()))
		if b.Degraded {
			r.say("A part of the result is a substitute, because a model did not answer as it should.")
		}
	case messages.RunFailed:
		if b.By == messages.ByRecovery && b.Cause == messages.CauseNodeLost {
			r.end("The process that ran it ended after %s at the earliest. It failed %s later%s.", took(last.Sub(r.sum.QueuedAt)), took(e.Time.Sub(last)), after(": ", message(b.Error)))
			break
		}
		r.end("It failed after %s%s: %s", took(r.in()), because(b), r.why(b.Error, b.Cause))
	case messages.RunCanceled:
		if r.canceled.IsZero() {
			r.end("It ended as canceled after %s%s.", took(r.in()), authors[b.By])
		} else {
			r.end("It ended %s later%s.", took(e.Time.Sub(r.canceled)), authors[b.By])
		}
	}
}

// Read reads a log up to the event with the given number, and explains it. Without deltas a lost process seems to have ended after its last milestone.
func Read(log iter.Seq2[messages.Event, error], upTo uint64) ([]string, error) {
	var r Run
	for e, err := range log {
		if err != nil {
			return nil, err
		}
		if r.Add(e); e.Seq >= upTo {
			break
		}
	}
	return r.Sentences(), nil
}

// Sentences returns the sentences about the run so far.
func (r *Run) Sentences() []string {
	s := *r
	s.lines = slices.Clone(r.lines)
	if !r.over {
		s.unfinished()
	}
	if more := r.failed - mostFailures; more > 0 {
		s.say("There were %s more.", words.Count(more, "failure"))
	}
	s.children()
	if len(r.skipped) > 0 {
		s.say("Of its plan it skipped %s.", listed(r.skipped))
	}
	s.cost()
	return s.lines
}

func (r *Run) say(format string, args ...any) {
	r.lines = append(r.lines, words.OneLine(fmt.Sprintf(format, args...)))
}

// in returns how long the run has lasted.
func (r *Run) in() time.Duration { return r.sum.UpdatedAt.Sub(r.sum.QueuedAt) }

func (r *Run) queued(b messages.RunQueued) {
	who := name(b.Principal)
	if b.Parent != "" {
		who = "The run " + string(b.Parent)
	} else if b.Labels["schedule"] != "" {
		who = "The schedule " + name(b.Labels["schedule"]) + after(" of ", who)
	}
	r.say("%s started the job %s at %s%s.", cmp.Or(who, "Somebody"), b.Job, r.sum.QueuedAt.UTC().Format(time.DateTime+" UTC"), after(": ", r.sum.Input))
}

func (r *Run) canceling(b messages.RunCanceling) {
	r.canceled = r.sum.UpdatedAt
	who := cmp.Or(name(b.By), "Somebody")
	if b.By == "" && strings.HasPrefix(b.Reason, "its parent ") {
		who = "Its parent run"
	}
	r.say("%s canceled it after %s%s.", who, took(r.in()), after(": ", b.Reason))
}

// failure describes something that failed, and what followed.
func (r *Run) failure(what string, err *messages.Error, then string) {
	if r.failed++; r.failed > mostFailures {
		return
	}
	why, before := cmp.Or(message(err), "no reason is given"), r.reason
	inTask, wasInTask := then != "", r.inTask
	r.reason, r.inTask = why, inTask
	switch {
	case r.failed == 1:
		r.say("The first to fail was %s, after %s: %s. %s", what, took(r.in()), strings.TrimSuffix(why, "."), then)
	case inTask && !wasInTask && strings.HasSuffix(why, before):
		r.say("Because of that %s failed. %s", what, then)
	case strings.HasSuffix(before, why):
		r.say("Then %s failed in the same way. %s", what, then)
	default:
		r.say("Then %s failed: %s. %s", what, strings.TrimSuffix(why, "."), then)
	}
}

func message(err *messages.Error) string {
	if err == nil {
		return ""
	}
	return err.Message
}

// why describes the cause of the run's failure, unless the sentence before just did.
func (r *Run) why(err *messages.Error, cause messages.Code) string {
	says := causes[cause]
	if err != nil && err.Message != r.reason {
		return fmt.Sprintf("%s (%s).", strings.TrimSuffix(err.Message, "."), cmp.Or(says, string(cause)))
	}
	return cmp.Or(says, string(cause)) + ", as said before."
}

// causes describes each cause of a failure.
var causes = map[messages.Code]string{
	messages.CauseError: "a task returned an error", messages.CausePanic: "a task crashed", messages.CauseDeadline: "its time was over",
	messages.CauseStalled: "nothing happened for too long", messages.CauseShutdown: "the server stopped",
	messages.CauseNodeLost: "the process that ran it ended", messages.CauseProviderError: "the server that it asked refused",
	messages.CauseTransportClosed: "there was no connection, or it was cut", messages.CauseEmptyCompletion: "the model answered nothing",
	messages.CauseInvalidOutput: "the model's answer was not of the form asked for", messages.CauseContextExceeded: "the model's context was too small",
	messages.CauseLimitExceeded: "a limit was reached", messages.CauseInvalidInput: "its input was wrong",
	messages.CauseInjected: "a test injected it", messages.CauseJournalUnavailable: "the journal took nothing for too long",
}

// authors describes who wrote a terminal, unless the run itself did.
var authors = map[messages.Author]string{messages.BySupervisor: ", by its supervisor", messages.ByRecovery: ", by the process that found it",
	messages.ByNode: ", by its server"}

func because(b messages.RunFailed) string { return authors[b.By] + after(" in the task ", b.Task) }

// answered tells the answer to an open question.
func (r *Run) answered(b messages.InputReceived, when time.Time) {
	i := slices.IndexFunc(r.waited.Inputs, func(in messages.Input) bool { return in.Request == b.Request && !in.Closed })
	if i < 0 {
		return
	}
	in := &r.waited.Inputs[i]
	in.AnsweredAt, in.Closed = when, true
	if b.ID == "" && b.Principal == "" && in.Kind != messages.InputSecret && (len(b.Value) == 0 || string(b.Value) == "null") {
		r.say("It asked %q, and withdrew that after %s.", words.Clip(in.Prompt, 200), took(when.Sub(in.AskedAt)))
		return
	}
	r.say("It asked %q, and %s answered after %s.", words.Clip(in.Prompt, 200), cmp.Or(b.Principal, "somebody"), took(when.Sub(in.AskedAt)))
}

// end tells which questions nobody answered, and then how the run ended.
func (r *Run) end(format string, args ...any) {
	for _, in := range r.waited.Inputs {
		if !in.Closed {
			r.say("It asked %q, and nobody answered.", words.Clip(in.Prompt, 200))
		}
	}
	r.over = true
	r.say(format, args...)
}

// unfinished describes what a run that has not ended is doing or waits for.
func (r *Run) unfinished() {
	var open []string
	for _, in := range r.waited.Inputs {
		if !in.Closed {
			open = append(open, fmt.Sprintf("%q", words.Clip(in.Prompt, 200)))
		}
	}
	switch {
	case len(open) > 0:
		r.say("It waits for an answer to %s.", listed(open))
	case r.started.IsZero():
		r.say("It has not begun yet.")
	case len(r.running) > 0:
		r.say("It goes on: %s.", words.Count(len(r.running), "task")+after(" works: ", listed(r.running)))
	default:
		r.say("It has not ended yet.")
	}
}

// children describes the sub-runs: their jobs, and how they ended.
func (r *Run) children() {
	var jobs []string
	ends := map[messages.Status]int{}
	for _, c := range r.waited.Children {
		jobs = add(jobs, c.Job)
		ends[c.Status]++
	}
	if len(jobs) == 0 {
		return
	}
	var parts []string
	for _, status := range []messages.Status{messages.Completed, messages.Failed, messages.Canceled, messages.Processing} {
		if n := ends[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	r.say("It started %s (%s): %s.", words.Count(len(r.waited.Children), "sub-run"), listed(jobs), listed(parts))
}

// cost describes what the run has written and used.
func (r *Run) cost() {
	if n := len(r.waited.Artifacts); n > 0 {
		var bytes int64
		var names []string
		for _, a := range r.waited.Artifacts {
			bytes, names = bytes+a.Bytes, append(names, a.Name)
		}
		r.say("It wrote %s: %s, %s.", words.Count(n, "file"), listed(names), words.Size(bytes))
	}
	if people := r.waited.Waited(r.sum.UpdatedAt); people >= time.Second {
		r.say("Of its %s it waited %s for people.", took(r.in()), took(people))
	}
	if r.calls > 0 {
		r.say("It asked %s %s.", listed(r.models), times(r.calls))
	}
	spent := r.sum.Spent()
	if spent.Tokens > 0 {
		about := ""
		if r.sum.Purse.Estimated {
			about = "about "
		}
		r.say("It has used %s%s tokens: %s went in, %s came out.", about, words.Thousands(spent.Tokens), words.Thousands(spent.Input), words.Thousands(spent.Output))
	}
	if limit := r.sum.Limit(); limit != (messages.Budget{}) {
		if limit.Time > 0 {
			spent.Time = messages.Duration(r.in() - r.waited.Waited(r.sum.UpdatedAt))
		}
		r.say("Of its budget of %s it has spent %s%s.", limit, cmp.Or(spent.String(), "nothing"), after("; it has left ", limit.Minus(spent).String()))
	} else if spent.Cost.Amount > 0 {
		r.say("The models cost %s.", messages.Budget{Cost: spent.Cost})
	}
	if n := len(r.tools); n > 0 {
		slices.Sort(r.tools)
		r.say("It called tools %s: %s.", times(n), listed(slices.Compact(slices.Clone(r.tools))))
	}
}

func (r *Run) rest(task string) {
	r.running = slices.DeleteFunc(r.running, func(t string) bool { return t == task })
}

func add(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func name(text string) string { return words.Clip(text, 80) }

// after returns the text with the words before it, or nothing for an empty text.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + strings.TrimSuffix(words.Clip(text, 200), ".")
}

// mostListed is the greatest number of names in a sentence.
const mostListed = 8

// listed joins names for a sentence. Of more than mostListed it counts the last.
func listed(all []string) string {
	if n := len(all); n > mostListed {
		all = append(slices.Clone(all[:mostListed-1]), words.Count(n-mostListed+1, "other"))
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}

func times(n int) string {
	if n <= 2 {
		return []string{"", "once", "twice"}[n]
	}
	return words.Thousands(int64(n)) + " times"
}

// took formats a duration for people.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
