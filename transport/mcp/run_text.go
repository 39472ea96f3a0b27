package mcp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/mcp/internal/task"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// toolLabel is the label of a run that names the tool that started it.
const toolLabel = "mcp.tool"

// textOf describes the state of the run, and what to do next, for people and models.
func (s *Server) textOf(state messages.State) string {
	if t := s.jobs[state.Queued.Labels[toolLabel]]; t != nil && t.about.Summary != nil && state.Status.IsEnded() {
		return t.about.Summary(state)
	}
	if state.Status != messages.Completed {
		return sentence(state)
	}
	end, text := model.EndOf(state), lastText(state)
	if text == "" && end.Calls != nil {
		end.Text = string(state.End.Result)
	}
	text = cmp.Or(text, strings.TrimSuffix(sentence(state)+"\n"+end.Text, "\n"))
	if lack := end.Lack(); lack != "" {
		text += "\n\n[" + lack + "]"
	}
	return text
}

// sentence describes the state of the run, and what to do about it.
func sentence(state messages.State) string {
	run := fmt.Sprintf("%s (run %s)", state.Queued.Job, state.RunID)
	switch statusOf(state) {
	case messages.Completed:
		text := run + " completed."
		if state.End.Degraded {
			text = run + " completed, but its result lacks something that was asked for."
		}
		if list := fileList(state); list != "" {
			text += " It wrote " + list + ". " + nextStep(state)
		}
		return text
	case messages.Failed:
		return run + " failed, " + task.Why(state.End) + "."
	case messages.Canceled:
		return run + " was canceled, " + task.Why(state.End) + "."
	case waiting:
		return run + " waits for an answer. " + nextStep(state) + "\n" + asking(state)
	}
	if state.Canceling {
		return run + " is being canceled. " + nextStep(state)
	}
	return run + " is working. " + nextStep(state)
}

// nextStep says what a reader of the run can do next; "" if there is nothing to say.
func nextStep(state messages.State) string {
	switch statusOf(state) {
	case messages.Completed:
		if len(state.Artifacts) == 0 {
			return ""
		}
		return "Read a file with run_read {run_id, name}."
	case messages.Failed, messages.Canceled:
		if failed := state.End.Error; failed != nil && failed.Retryable {
			return "Call the tool again: this may pass."
		}
		return ""
	case waiting:
		return "Ask the user, give the answer with run_answer {run_id, request, value}, then call run_wait {run_id}."
	}
	if state.Canceling {
		return "Wait for its end with run_wait {run_id}."
	}
	return fmt.Sprintf("Wait for its end with run_wait {run_id}, or follow it with run_events {run_id, after: %d}.", state.Seq)
}

// fileList lists the files that the run wrote, with sizes; "" if there are none. It has the same files as the run's
// result.
func fileList(state messages.State) string {
	list, more := listedArtifacts(state.Artifacts)
	var all []string
	for _, a := range list {
		all = append(all, fmt.Sprintf("%s (%d bytes)", a.Name, a.Bytes))
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

// asking lists the open questions, one per line.
func asking(state messages.State) string {
	var all []string
	for _, q := range wire.Questions(state) {
		line := fmt.Sprintf("- request %q: %s", q.Request, q.Prompt)
		if len(q.Schema) > 0 {
			line += fmt.Sprintf("\n  The value fits the schema %s", compact(q.Schema))
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// lastText returns the run's answer, if it has one: the text that was closed last or, if none was closed, the longest.
func lastText(state messages.State) string {
	var answer messages.Stream
	for _, stream := range state.Streams {
		if stream.Thought || messages.IsStderr(stream.Name) || answer.Closed && !stream.Closed {
			continue
		}
		if stream.Closed || stream.Len() > answer.Len() {
			answer = stream
		}
	}
	return answer.Text()
}
