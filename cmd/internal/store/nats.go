//go:build !nonats

package store

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// openNATS opens a store in NATS; secrets learns the credentials. The user's key signs the node's ledger.
func openNATS(ctx context.Context, env environment.Variables, f *Flags, secrets *redact.Secrets, log *zap.Logger,
	retention time.Duration) (*Store, error) {
	with, err := credited(f.natsCreds, secrets)
	var sign func() (ed25519.PrivateKey, error)
	if err == nil {
		sign, err = signing(env)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	j, err := nats.Open(ctx, f.nats, append(with, nats.Log(log), nats.Streams(f.natsStreams), nats.Retention(retention), nats.SignedBy(sign))...)
	if err != nil {
		return nil, err
	}
	return &Store{Journal: j, Warnings: j.Warnings(), Save: j.Save, Load: j.Load, Get: j.Get, Set: j.Set,
		GetSession: j.GetSession, SetSession: func(ctx context.Context, name string, value []byte, revision uint64) error {
			return j.SetSession(ctx, name, value, revision, sessionLife)
		}, Conversations: func(folder string, most int) *conversation.Store {
			return conversation.NewShared(conversation.Shared{
				Open: func(id string) (func(int64) ([]byte, error), func([]byte) error) {
					return j.Lines(path.Join(folder, id))
				},
				IDs: func() ([]string, error) { return j.LineLogs(context.Background(), folder) }}, most)
		}, close: j.Close}, nil
}

// credited returns the option with the credentials in the file, or none for "".
func credited(credentials string, secrets *redact.Secrets) ([]nats.Option, error) {
	if credentials == "" {
		return nil, nil
	}
	text, err := regular.Read(credentials, regular.Small)
	if err != nil {
		return nil, fmt.Errorf("cannot read the credentials: %w", err)
	}
	secrets.AddText("nats", string(text))
	return []nats.Option{nats.Credentials(credentials)}, nil
}

// openShared opens what servers keep in NATS, to read it.
func openShared(ctx context.Context, at, credentials string, secrets *redact.Secrets) (*nats.Reader, error) {
	with, err := credited(credentials, secrets)
	if err != nil {
		return nil, err
	}
	return nats.OpenReader(ctx, at, with...)
}

// CheckShared verifies all logs and ledgers in NATS, even beside live servers. It returns their keys, too.
func CheckShared(ctx context.Context, at, credentials string, secrets *redact.Secrets, runs ...messages.RunID) (found journal.Report, keys Keys, err error) {
	r, err := openShared(ctx, at, credentials, secrets)
	if err != nil {
		return found, keys, err
	}
	found, err = r.Check(ctx, runs...)
	value, _, failed := r.Get(ctx, KeysFile)
	if failed == nil && value != nil {
		failed = json.Unmarshal(value, &keys)
	}
	return found, keys, errors.Join(err, failed, r.Close())
}

// ChangeShared changes the keys of the servers in NATS, and returns them. It calls do again if a server was faster.
func ChangeShared(ctx context.Context, at, credentials string, secrets *redact.Secrets, do func(Keys) Keys) (keys Keys, err error) {
	r, err := openShared(ctx, at, credentials, secrets)
	if err != nil {
		return keys, err
	}
	for {
		value, revision, err := r.Get(ctx, KeysFile)
		if keys = (Keys{}); err == nil && value != nil {
			err = json.Unmarshal(value, &keys)
		}
		keys = do(keys)
		text, failed := json.Marshal(keys)
		if err = errors.Join(err, failed); err == nil && string(text) != string(value) {
			if err = r.Set(ctx, KeysFile, text, revision); messages.CodeOf(err) == messages.CodeConflict {
				continue
			}
		}
		return keys, errors.Join(err, r.Close())
	}
}
