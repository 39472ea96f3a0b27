package host

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/internal/webhook"
	"github.com/seed889630bf/lastword/internal/webhook/send"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// AddWebhookFlags adds --webhooks and --callback-hosts.
func (f *Flags) AddWebhookFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.hooksFile, "webhooks", "", "YAML `file` of webhooks: URLs that get the ends and the questions of runs")
	flags.StringSliceVar(&f.callbackHosts, "callback-hosts", nil,
		"`hosts` that callers may name in callback_url; needs "+settings.WebhookSecrets)
}

func endpoint(t *webhook.Target) send.Endpoint {
	return send.Endpoint{URL: t.URL, Secrets: t.Secrets, AllowPrivate: t.AllowPrivate}
}

// callback returns the target for a caller's callback URL. Errors: invalid_input.
func (f *Flags) callback(address string) (webhook.Target, error) {
	t := webhook.Target{URL: address, Secrets: strings.FieldsFunc(f.Env().Get(settings.WebhookSecrets), settings.IsSeparator)}
	if err := endpoint(&t).Check(); err != nil {
		return t, err
	}
	if u, err := url.Parse(address); err != nil || !slices.Contains(f.callbackHosts, strings.ToLower(u.Host)) {
		return t, messages.InvalidInput("this server calls back only %s", strings.Join(f.callbackHosts, ", "))
	}
	return t, nil
}

// checkCallback returns callback in the form that doors need, or nil if callbacks are disabled.
func (f *Flags) checkCallback() func(string) error {
	if len(f.callbackHosts) == 0 {
		return nil
	}
	return func(url string) error { _, err := f.callback(url); return err }
}

// readHooks reads the operator's file of webhooks, and checks the secrets for callbacks.
func (c *Checked) readHooks() ([]webhook.Target, error) {
	secrets := strings.FieldsFunc(c.Env().Get(settings.WebhookSecrets), settings.IsSeparator)
	if len(c.callbackHosts) > 0 && len(secrets) == 0 {
		secrets = []string{""} // CheckSecret says what is missing
	}
	for _, secret := range secrets {
		if err := send.CheckSecret(secret); err != nil && len(c.callbackHosts) > 0 {
			return nil, &exit.Error{Code: exit.Configuration, Err: messages.InvalidInput("--callback-hosts needs %s: %v", settings.WebhookSecrets, err)}
		}
	}
	if c.hooksFile == "" {
		return nil, nil
	}
	text, err := c.readFile("webhooks", c.hooksFile)
	if err != nil {
		return nil, err
	}
	checks := webhook.Checks{Secret: send.CheckSecret, URL: func(t webhook.Target) error { return endpoint(&t).Check() }}
	for _, job := range append(c.newCatalog(nil, nil).steps().Jobs, actors.Definition{Name: plan.Name}) {
		checks.Jobs = append(checks.Jobs, job.Name)
	}
	hooks, err := webhook.Read(text, checks)
	if err != nil {
		err = misconfigured(c.hooksFile, err)
	}
	return hooks, err
}

// newHooks returns the webhooks, or nil if there are none.
func (c *catalog) newHooks(log *zap.Logger) *webhook.Hooks {
	if len(c.hooks) == 0 && len(c.callbackHosts) == 0 {
		return nil
	}
	var callback func(string) (webhook.Target, error)
	if len(c.callbackHosts) > 0 {
		callback = c.callback
	}
	m := newMarks[webhook.Marks](c, "webhooks.json")
	c.added = newMarks[map[messages.RunID]addedCallbacks](c, "callbacks.json")
	sender := send.NewSender()
	forms := map[string]func(*messages.RunQueued, messages.Event) json.RawMessage{a2a.Form: a2a.Notification}
	return webhook.New(webhook.Config{Targets: c.hooks, Callback: callback, Added: c.callbacksOf, AddedForm: a2a.Form, Forms: forms, Load: m.load, Save: m.save, Log: log, Redact: c.program.Secrets.Bytes,
		System: c.program.runtime,
		Send: func(ctx context.Context, to *webhook.Target, id string, body []byte) (time.Duration, error) {
			return sender.Send(ctx, endpoint(to), id, body)
		}})
}

// addedCallbacks are the callback URLs that callers have added to a run, by their ids, and when they last did.
type addedCallbacks struct {
	At   time.Time         `json:"at"`
	URLs map[string]string `json:"urls"`
}

const (
	// longestAdded is how long added callbacks are kept; no run lasts longer. mostAdded bounds the runs that have some.
	longestAdded = 30 * 24 * time.Hour
	mostAdded    = 10_000
)

// callbacksOf returns the callback URLs that callers have added to the run.
func (c *catalog) callbacksOf(ctx context.Context, run messages.RunID) (map[string]string, error) {
	all, err := c.added.load(ctx)
	return all[run].URLs, err
}

// changeCallbacks changes them.
func (c *catalog) changeCallbacks(ctx context.Context, run messages.RunID, do func(urls map[string]string) error) error {
	return c.added.change(ctx, func(all *map[messages.RunID]addedCallbacks) error {
		maps.DeleteFunc(*all, func(_ messages.RunID, one addedCallbacks) bool { return time.Since(one.At) > longestAdded })
		one := addedCallbacks{time.Now().UTC(), map[string]string{}}
		maps.Copy(one.URLs, (*all)[run].URLs)
		if err := do(one.URLs); err != nil {
			return err
		}
		if *all == nil {
			*all = map[messages.RunID]addedCallbacks{}
		}
		if (*all)[run] = one; len(*all) > mostAdded {
			return messages.LimitExceeded("%d runs have added callbacks; name the URL with the start of the run", mostAdded)
		}
		return nil
	})
}

// Webhooks returns the handler for the operator, who sends a [webhook.Order] and gets the webhooks.
func (s *Server) Webhooks() http.Handler {
	return orderHandler(func(ctx context.Context, order webhook.Order) ([]webhook.Line, error) {
		switch {
		case s.hooks != nil:
			return s.hooks.Operate(ctx, order)
		case order.Action == "ls":
			return nil, nil
		}
		return nil, messages.Errorf(messages.CodeNotFound, "the server has no webhooks; its operator gives them with lastword serve --webhooks FILE")
	})
}

// orderHandler returns a handler that executes an operator's order and answers with lines.
func orderHandler[Order, Line any](execute func(context.Context, Order) ([]Line, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order Order
		var lines []Line
		err := door.ReadJSON(r, &order)
		if err == nil {
			lines, err = execute(r.Context(), order)
		}
		answer(w, append([]Line{}, lines...), err) // a list, never null
	})
}

// answer sends a value as JSON, or refuses the request.
func answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		auth.Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the caller may have left
}

// observe passes on the milestones of runs.
func (s *Server) observe(e messages.Event) {
	s.Metrics.Observe(e)
	if s.hooks != nil {
		s.hooks.Observe(e)
	}
}

// offered is the runtime as doors see it, without the internal job that delivers webhooks.
type offered struct {
	*actors.System
	jobs *catalog
}

// Jobs returns the jobs that callers can start.
func (o offered) Jobs() (all []messages.JobInfo) {
	for _, job := range o.System.Jobs() {
		if job.Name != webhook.Name {
			all = append(all, job)
		}
	}
	return all
}
