package mcp

import (
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/schema"
	"github.com/seed889630bf/lastword/transport/mcp/task"
)

// toolLabel is the label of a run that says which tool started it.
const toolLabel = "mcp.tool"

// say says for people and models how the run stands.
func (s *Server) say(state messages.State) string {
	if t := s.toolOf(state); t != nil && t.Say != nil && state.Status.IsEnded() {
		return t.Say(state)
	}
	if state.Status != messages.Completed {
		return sentence(state)
	}
	if text := spoken(state); text != "" {
		return text
	}
	if state.End != nil && len(state.End.Result) > 0 {
		return sentence(state) + "\n" + string(state.End.Result)
	}
	return sentence(state)
}

// toolOf returns the tool that started the run, or nil.
func (s *Server) toolOf(state messages.State) *JobTool {
	if state.Queued == nil {
		return nil
	}
	return s.jobs[state.Queued.Labels[toolLabel]]
}

// sentence says how the run stands, and what to do about it.
func sentence(state messages.State) string {
	run := fmt.Sprintf("%s (run %s)", jobOf(state), state.RunID)
	switch statusOf(state) {
	case Completed:
		if state.End != nil && state.End.Degraded {
			return run + " completed, with less than was asked for."
		}
		return run + " completed."
	case Failed:
		return run + " failed" + why(state.End) + "."
	case Canceled:
		return run + " was canceled" + why(state.End) + "."
	case Waiting:
		return run + " waits to be told. Ask the user, give the answer with the tool run_answer (run_id, request, " +
			"value), then go on with run_wait.\n" + asking(state)
	}
	if state.Canceling {
		return run + " is being canceled. Wait for its end with run_wait."
	}
	return fmt.Sprintf("%s is working. Wait for it with run_wait, or read on with run_events after %d.", run, state.Seq)
}

func why(end *messages.End) string {
	if end == nil {
		return ""
	}
	return ", " + task.Why(end)
}

// asking is what the run waits to be told, a line each.
func asking(state messages.State) string {
	var all []string
	for _, q := range caller.Questions(state) {
		line := fmt.Sprintf("- request %q: %s", q.Request, q.Prompt)
		if len(q.Schema) > 0 {
			line += fmt.Sprintf("\n  The value fits the schema %s", schema.Compact(q.Schema))
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// spoken is the run's answer where it said one: of its texts the last that was closed, else the longest.
func spoken(state messages.State) string {
	var answer messages.Stream
	for _, stream := range state.Streams {
		if stream.Thought || answer.Closed && !stream.Closed {
			continue
		}
		if stream.Closed || stream.Len() > answer.Len() {
			answer = stream
		}
	}
	return answer.Text()
}
