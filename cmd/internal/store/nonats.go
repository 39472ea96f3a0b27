//go:build nonats

package store

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/redact"
)

func openNATS(context.Context, string, string, *redact.Secrets, *zap.Logger, time.Duration) (*Store, error) {
	return nil, errors.New("this lastword was built without NATS; leave --nats out")
}
