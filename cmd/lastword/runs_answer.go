package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/chatui"
	"github.com/seed889630bf/lastword/cmd/internal/commands"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

func runsAnswerCommand(remote *host.Remote) *cobra.Command {
	return &cobra.Command{
		Use:  "answer <run> [request] <value>",
		Args: exit.TakesSome(2, 3, "needs the run and the value", "for example: lastword runs answer last yes"),
		RunE: remote.Ask(ofRun(func(cmd *cobra.Command, c *api.Client, id messages.RunID, args []string) error {
			err := answer(cmd.Context(), c, id, args, remote.Place())
			if messages.CodeOf(err) == messages.CauseInvalidInput {
				err = exit.Misconfigured(err)
			}
			return err
		})),
	}
}

// request is an open question of a run or of a sub-run.
type request struct {
	run messages.RunID
	messages.Input
}

// answer answers the question that the first of two arguments names, or the only open one.
func answer(ctx context.Context, c *api.Client, id messages.RunID, args []string, place string) error {
	open, err := requests(ctx, c, id)
	if err != nil {
		return err
	}
	var one request
	value, named := args[len(args)-1], 0
	for _, r := range open {
		if len(args) == 1 || r.Request == args[0] {
			one, named = r, named+1
		}
	}
	if named != 1 {
		return unclear(id, open, args[:len(args)-1], named, place)
	}
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

// unclear says why it is not clear which question to answer: named of those that are open have the name, if one is given.
func unclear(id messages.RunID, open []request, name []string, named int, place string) error {
	code := messages.CodeNotFound
	lines := []string{fmt.Sprintf("run %s asks nothing now", id)}
	switch {
	case len(name) > 0 && named == 0:
		lines[0] = fmt.Sprintf("run %s does not ask for %q now", id, name[0])
	case len(open) > 0:
		code, lines[0] = messages.CauseInvalidInput, fmt.Sprintf("run %s asks %d questions; name the one that you answer:", id, len(open))
	}
	for _, r := range open {
		lines = append(lines, fmt.Sprintf("  lastword runs answer %s %s VALUE%s    # %s", r.run, chatui.Quoted(r.Request), place, terminal.Flat(words.Clip(r.Prompt, 80))))
	}
	return messages.Errorf(code, "%s", strings.Join(lines, "\n"))
}

func runsSayCommand(remote *host.Remote) *cobra.Command {
	var msg messages.Said
	interrupt, wait := false, false
	cmd := &cobra.Command{Use: "say <run> <message>", Args: exit.Takes(2, "needs the id of one run, or last, and the message in quotes",
		`for example: lastword runs say last "look at main.go, too"`),
		RunE: remote.Ask(ofRun(func(cmd *cobra.Command, c *api.Client, id messages.RunID, args []string) error {
			if msg.Mode, msg.Content = messages.Steer, args[0]; interrupt {
				msg.Mode = messages.Interrupt
			}
			if !utf8.ValidString(msg.Content) {
				return messages.InvalidInput("the message is not UTF-8; convert it")
			}
			m, err := c.Say(cmd.Context(), id, msg)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), m.Message)
			}
			if err != nil || !wait {
				return err
			}
			return awaitSeen(cmd, remote, c, id, m)
		}))}
	flags := cmd.Flags()
	flags.BoolVar(&interrupt, "interrupt", false, "end the model's answer first, and decline open questions")
	flags.BoolVar(&wait, "wait", false, "wait until a model's server has the message, and fail if the run drops it")
	flags.StringVar(&msg.Message, "id", "", "`name` of the message: the same name and text are the same message")
	return cmd
}

func runsReleaseCommand(remote *host.Remote) *cobra.Command {
	return oneLiveRun(remote, "release <run>", func(cmd *cobra.Command, c *api.Client, id messages.RunID) error {
		return c.Release(cmd.Context(), id)
	})
}

func runsMoveCommand(remote *host.Remote) *cobra.Command {
	first, before := false, ""
	cmd := &cobra.Command{Use: "move <run> --first|--before <run>", Args: runArgument,
		RunE: remote.Ask(ofRun(func(cmd *cobra.Command, c *api.Client, id messages.RunID, _ []string) (err error) {
			other := messages.RunID("")
			if first == (before != "") {
				err = exit.BadUsage(cmd, errors.New("say where: --first, or --before RUN"), "lastword runs ls --status pending lists the runs that wait")
			} else if before != "" {
				other, err = runNamed(cmd.Context(), c, before)
			}
			if err != nil {
				return err
			}
			return c.Move(cmd.Context(), id, other)
		}))}
	cmd.Flags().BoolVar(&first, "first", false, "it begins before the others that wait in its conversation")
	cmd.Flags().StringVar(&before, "before", "", "it begins right before that `run`, which waits too")
	return cmd
}

// awaitSeen tells when the message is delivered, and when a model's server has accepted a request with it.
func awaitSeen(cmd *cobra.Command, remote *host.Remote, c *api.Client, id messages.RunID, m messages.Message) error {
	delivered, why := false, messages.DropEnded
	for e, err := range remote.Follow(cmd, c, id, messages.FollowOptions{After: m.Seq, Filter: messages.Filter{MilestonesOnly: true}}) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case messages.MessageDelivered:
			if b.Message == m.Message {
				delivered = true
				fmt.Fprintln(cmd.ErrOrStderr(), "delivered: the run has it, from", b.At, "on")
			}
		case messages.MessageDropped:
			if b.Message == m.Message {
				why = b.Reason
			}
		case messages.StepKept:
			if b.Step == messages.SeenStep+m.Message {
				fmt.Fprintln(cmd.ErrOrStderr(), "seen: the program has it")
				return nil
			}
		case messages.LLMCompleted:
			if slices.Contains(b.Seen, m.Message) {
				fmt.Fprintln(cmd.ErrOrStderr(), "seen: the model's server has accepted it")
				return nil
			}
		}
	}
	if delivered {
		return fmt.Errorf("the run ended before a model's server accepted %s; the next turn of its conversation has it", m.Message)
	}
	return fmt.Errorf("the run did not take %s: %s", m.Message, why)
}

func runsRetryCommand(remote *host.Remote) *cobra.Command {
	var changes []string
	from := ""
	cmd := oneRun(remote, "retry <run>", func(cmd *cobra.Command, c host.Source, id messages.RunID) error {
		state, err := c.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		q := messages.Request{Job: state.Queued.Job, Limits: state.Queued.Limits}
		if q.Input, err = changed(cmd, state.Queued.Input, changes); err != nil {
			return err
		}
		if q.Labels, err = retryLabels(cmd, state, from, len(changes) > 0); err != nil {
			return err
		}
		live, ok := c.(*api.Client)
		if !ok {
			return commands.Retry(cmd, remote.Program, remote.State, state, q.Labels)
		}
		again, err := live.Submit(cmd.Context(), q)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), again)
		return err
	})
	cmd.Flags().StringArrayVar(&changes, "set", nil, "`name=value` of the input; can be repeated. A value that is not JSON is text")
	cmd.Flags().StringVar(&from, "from", "", "`name` of a kept step: make it again, and what was kept after it")
	return cmd
}

// retryLabels returns the labels of the retry of a run. They say that it goes on with the kept steps, unless the run
// completed or the input is another.
func retryLabels(cmd *cobra.Command, state messages.State, from string, changed bool) (map[string]string, error) {
	labels := maps.Clone(state.Queued.Labels)
	first := cmp.Or(labels[messages.RetryLabel], string(state.RunID))
	for _, name := range []string{messages.TraceLabel, messages.RetryLabel, messages.RetryFromLabel} {
		delete(labels, name)
	}
	has := func(k messages.StepKept) bool { return k.Step == from && !k.Again }
	switch {
	case from != "" && changed:
		return nil, exit.BadUsage(cmd, errors.New("--from goes on with what was kept, and --set changes the input from which it was made"), "leave out one of them")
	case from != "" && !slices.ContainsFunc(state.Kept, has):
		return nil, exit.BadUsage(cmd, fmt.Errorf("run %s has kept no step %q", state.RunID, from), "lastword runs get "+string(state.RunID)+" shows what it has kept")
	case changed || from == "" && (state.Status == messages.Completed || len(state.Kept) == 0 && first == string(state.RunID)):
		return labels, nil
	case labels == nil:
		labels = map[string]string{}
	}
	if labels[messages.RetryLabel] = first; from != "" {
		labels[messages.RetryFromLabel] = from
	}
	return labels, nil
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
