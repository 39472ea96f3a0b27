//go:build !nonats

package store

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/transport/nats"
)

// openNATS opens a store in NATS. at is the URLs of servers, separated by commas; secrets learns the credentials.
func openNATS(ctx context.Context, at, credentials string, secrets *redact.Secrets, log *zap.Logger,
	retention time.Duration) (*Store, error) {
	with := []nats.Option{nats.Log(log), nats.Retention(retention)}
	if credentials != "" {
		text, err := regular.Read(credentials, regular.Small)
		if err != nil {
			return nil, fmt.Errorf("cannot read the credentials: %w", err)
		}
		secrets.AddText("nats", string(text))
		with = append(with, nats.Credentials(credentials))
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	j, err := nats.Open(ctx, at, with...)
	if err != nil {
		return nil, err
	}
	return &Store{Journal: j, Warnings: j.Warnings(), Save: j.Save, Load: j.Load, Get: j.Get, Set: j.Set, close: j.Close}, nil
}
