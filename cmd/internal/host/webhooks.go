package host

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/actors/webhook"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages"
	send "github.com/seed889630bf/lastword/transport/webhook"
)

// AddWebhookFlags adds --webhooks.
func (h *Options) AddWebhookFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(&h.hooksFile, "webhooks", "", "YAML `file` of receivers that are told how runs end and what they ask")
	settings.Must(cmd.MarkFlagFilename("webhooks", "yaml", "yml"))
}

func endpoint(t *webhook.Target) send.Endpoint {
	return send.Endpoint{URL: t.URL, Secrets: t.Secrets, AllowPrivate: t.AllowPrivate}
}

// readHooks reads the operator's file of webhooks.
func (h *Options) readHooks() error {
	if h.hooksFile == "" {
		return nil
	}
	text, err := os.ReadFile(h.hooksFile)
	if err != nil {
		return &exit.Error{Code: exit.Configuration, Err: exit.Invalid("cannot read the webhooks in %s: %v", h.hooksFile, exit.Reason(err))}
	}
	checks := webhook.Checks{Secret: send.CheckSecret, URL: func(t webhook.Target) error { return endpoint(&t).Check() }}
	for _, job := range append(h.steps().Jobs, actors.Definition{Name: plan.Name}) {
		checks.Jobs = append(checks.Jobs, job.Name)
	}
	if h.hooks, err = webhook.Read(text, checks); err != nil {
		return problemsOf(h.hooksFile, err)
	}
	for _, t := range h.hooks {
		for _, secret := range t.Secrets {
			h.Secrets.Add("webhook secret", secret)
		}
	}
	return nil
}

// newHooks makes the webhooks; nil without any.
func (h *Options) newHooks(log *zap.Logger) *webhook.Hooks {
	if len(h.hooks) == 0 {
		return nil
	}
	m := &marks[webhook.Marks]{options: h, name: "webhooks.json"}
	sender := send.NewSender()
	return webhook.New(webhook.Config{Targets: h.hooks, Load: m.load, Save: m.save, Log: log, Redact: h.Secrets.Bytes,
		System: h.program.runtime,
		Send: func(ctx context.Context, to *webhook.Target, id string, body []byte) (time.Duration, error) {
			return sender.Send(ctx, endpoint(to), id, body)
		}})
}

// observe is told of the milestones of the runs.
func (i *Server) observe(e messages.Event) {
	i.Metrics.Observe(e)
	if i.hooks != nil {
		i.hooks.Observe(e)
	}
}

// offered is the runtime as doors see it: without the job that delivers.
type offered struct{ *actors.System }

// Jobs are those that callers can start.
func (o offered) Jobs() (all []messages.JobInfo) {
	for _, job := range o.System.Jobs() {
		if job.Name != webhook.Name {
			all = append(all, job)
		}
	}
	return all
}
