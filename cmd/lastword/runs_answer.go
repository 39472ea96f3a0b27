package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/chatui"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

func runsAnswerCommand(remote *host.Remote) *cobra.Command {
	return &cobra.Command{
		Use: "answer <run> [request] <value>",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 || len(args) == 3 {
				return nil
			}
			return exit.BadUsage(cmd, errors.New("give the run and the value"), "for example: lastword runs answer last yes")
		},
		RunE: remote.Ask(func(cmd *cobra.Command, args []string, c *api.Client) error {
			id, err := runNamed(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			err = answer(cmd.Context(), c, id, args[1:])
			if messages.CodeOf(err) == messages.CauseInvalidInput {
				err = &exit.Error{Code: exit.Configuration, Err: err}
			}
			return err
		}),
	}
}

// request is an open question of a run or of a sub-run.
type request struct {
	run messages.RunID
	messages.Input
}

// answer answers the question that the first of two arguments names, or the only open one.
func answer(ctx context.Context, c *api.Client, id messages.RunID, args []string) error {
	open, err := requests(ctx, c, id)
	if err != nil {
		return err
	}
	value := args[len(args)-1]
	if len(args) == 2 {
		open = slices.DeleteFunc(open, func(r request) bool { return r.Request != args[0] })
	}
	if len(open) != 1 {
		return unclear(id, open, args)
	}
	one := open[0]
	answer, err := json.RawMessage("null"), error(nil)
	if value != "null" {
		if answer, err = chatui.AnswerTo(one.Input, value); err != nil {
			return err
		}
	}
	return c.Answer(ctx, one.run, one.Request, answer)
}

// requests returns the open questions of the run and its sub-runs.
func requests(ctx context.Context, c *api.Client, id messages.RunID) (open []request, err error) {
	waits := []messages.RunID{id}
	for s, err := range every(ctx, c, messages.Query{Status: []messages.Status{messages.Processing}, Limit: 1000}) {
		if err != nil {
			return nil, err
		}
		if len(s.OpenRequests) > 0 && strings.HasPrefix(string(s.RunID), string(id)+".") {
			waits = append(waits, s.RunID)
		}
	}
	for _, run := range waits {
		state, err := c.State(ctx, run)
		if err != nil {
			return nil, err
		}
		for _, in := range state.Inputs {
			if !in.Closed && !state.Status.IsEnded() {
				open = append(open, request{run, in})
			}
		}
	}
	return open, nil
}

// unclear says why the question to answer is not unique.
func unclear(id messages.RunID, open []request, args []string) error {
	switch {
	case len(open) == 0 && len(args) == 2:
		return messages.Errorf(messages.CodeNotFound, "run %s does not ask for %q now", id, args[0])
	case len(open) == 0:
		return messages.Errorf(messages.CodeNotFound, "run %s asks nothing now", id)
	}
	lines := []string{fmt.Sprintf("run %s asks %d questions; name the one that you answer:", id, len(open))}
	for _, r := range open {
		lines = append(lines, fmt.Sprintf("  lastword runs answer %s %s VALUE    # %s", r.run, r.Request, terminal.Flat(words.Clip(r.Prompt, 80))))
	}
	return messages.InvalidInput("%s", strings.Join(lines, "\n"))
}

func runsRetryCommand(remote *host.Remote) *cobra.Command {
	var changes []string
	cmd := oneLiveRun(remote, "retry <run>", func(cmd *cobra.Command, c *api.Client, id messages.RunID) error {
		state, err := c.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		q := messages.Request{Job: state.Queued.Job, Labels: state.Queued.Labels, Limits: state.Queued.Limits}
		delete(q.Labels, messages.TraceLabel)
		if q.Input, err = changed(cmd, state.Queued.Input, changes); err != nil {
			return err
		}
		again, err := c.Submit(cmd.Context(), q)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), again)
		return err
	})
	cmd.Flags().StringArrayVar(&changes, "set", nil, "`name=value` of the input; can be repeated. A value that is not JSON is text")
	return cmd
}

// changed returns the input with the changes applied.
func changed(cmd *cobra.Command, input json.RawMessage, changes []string) (json.RawMessage, error) {
	if len(changes) == 0 {
		return input, nil
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &members); err != nil {
		return nil, exit.BadUsage(cmd, errors.New("the run's input is not an object, so --set cannot change it"), "")
	}
	for _, change := range changes {
		name, value, found := strings.Cut(change, "=")
		if !found {
			return nil, exit.BadUsage(cmd, fmt.Errorf("--set %q is not name=value", change), "")
		}
		members[name] = json.RawMessage(value)
		if !json.Valid(members[name]) {
			members[name], _ = json.Marshal(value) // a string can always be encoded
		}
	}
	return json.Marshal(members)
}
