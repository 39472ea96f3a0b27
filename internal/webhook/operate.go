package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Order is an operator's request: ls; test, which sends a message to the named target; or resend, which sends a run's
// events again, to the named target or to all that accept them.
type Order struct {
	Action string         `json:"action"`
	Name   string         `json:"name,omitempty"`
	Run    messages.RunID `json:"run,omitempty"`
}

// Line describes a webhook in a list.
type Line struct {
	Name  string          `json:"name"`
	URL   string          `json:"url"`
	Kinds []messages.Kind `json:"kinds"`
	Jobs  []string        `json:"jobs,omitempty"`
	// Trying counts the deliveries in progress. Delivered counts the deliveries that the journal still holds.
	Trying    int `json:"trying"`
	Delivered int `json:"delivered"`
	// GivenUp lists the newest failed deliveries.
	GivenUp []lost `json:"given_up,omitempty"`
}

// lost is a delivery that was given up.
type lost struct {
	Run messages.RunID `json:"run"`
	At  time.Time      `json:"at"`
	Why string         `json:"why"`
}

// mostLost bounds Line.GivenUp.
const mostLost = 20

// Operate carries out an operator's request, and describes the webhooks after it.
func (h *Hooks) Operate(ctx context.Context, o Order) ([]Line, error) {
	var err error
	switch o.Action {
	case "ls":
	case "test":
		err = h.test(ctx, o.Name)
	case "resend":
		err = h.resend(ctx, o.Run, o.Name)
	default:
		err = messages.InvalidInput("action is ls, test or resend")
	}
	if err != nil {
		return nil, err
	}
	lines := []Line{} // never null in JSON
	for _, name := range h.names() {
		line, err := h.line(ctx, name)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// test sends an event that belongs to no run.
func (h *Hooks) test(ctx context.Context, name string) error {
	to, err := h.find(name)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"type": "webhook.test", "timestamp": time.Now().UTC(), "data": map[string]string{"webhook": name}})
	if err != nil {
		return err
	}
	_, err = h.Send(ctx, to, "test_"+rand.Text(), body)
	return err
}

// resend delivers the end of a run again to its webhooks, or to one of them.
func (h *Hooks) resend(ctx context.Context, run messages.RunID, name string) error {
	state, err := h.System().State(ctx, run)
	if err != nil {
		return err
	}
	found := false
	targets, err := h.targetsOf(ctx, state)
	if err != nil {
		return err
	}
	for _, to := range targets {
		if name != "" && to.Name != name && webhookOf(to.Name) != name {
			continue
		}
		found = true
		if _, err := h.submit(ctx, deliveryInput{Target: to.Name, Run: run}, rand.Text()); err != nil {
			return err
		}
	}
	if !found {
		return messages.Errorf(messages.CodeNotFound, "no webhook %stakes events of run %s", name+map[bool]string{true: " "}[name != ""], run)
	}
	return nil
}

// redactedURL returns the URL without parts that may be secret.
func (t *Target) redactedURL() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// line summarizes a webhook and its deliveries.
func (h *Hooks) line(ctx context.Context, name string) (Line, error) {
	l := Line{Name: name, Kinds: usual}
	if to, err := h.find(name); err == nil {
		l.URL, l.Kinds, l.Jobs = to.redactedURL(), to.kinds(), to.Jobs
	}
	list, err := h.System().List(ctx, messages.Query{Principal: principal(name), Job: Name, Limit: 1000})
	for _, s := range list {
		switch {
		case !s.Status.IsEnded():
			l.Trying++
		case s.Status == messages.Completed:
			l.Delivered++
		case len(l.GivenUp) < mostLost:
			lost := lost{Run: messages.RunID(s.Labels["run"]), At: s.UpdatedAt, Why: fmt.Sprint("the delivery is ", s.Status)}
			if state, err := h.System().State(ctx, s.RunID); err == nil && state.End != nil && state.End.Error != nil {
				lost.Why = state.End.Error.Message
			}
			l.GivenUp = append(l.GivenUp, lost)
		}
	}
	return l, err
}
