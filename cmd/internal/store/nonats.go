//go:build nonats

package store

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
)

// errNoNATS is returned where NATS has the runs.
var errNoNATS = errors.New("this lastword was built without NATS; leave --nats out")

func openNATS(context.Context, environment.Variables, *Flags, *redact.Secrets, *zap.Logger, time.Duration) (*Store, error) {
	return nil, errNoNATS
}

// CheckShared fails, because this build has no NATS.
func CheckShared(context.Context, string, string, *redact.Secrets, ...messages.RunID) (journal.Report, Keys, error) {
	return journal.Report{}, Keys{}, errNoNATS
}

// ChangeShared fails, because this build has no NATS.
func ChangeShared(context.Context, string, string, *redact.Secrets, func(Keys) Keys) (Keys, error) {
	return Keys{}, errNoNATS
}
