package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// makeKeys finds the private keys of this node, in the folder of trust, and adds the public half of the one that
// signs to the journal's keys.
// If the journal is in memory, or the user has no home, the keys end with the process.
func (s *Server) makeKeys(ctx context.Context) error {
	c := s.jobs
	s.keys, s.sealing = newMarks[store.Keys](c, store.KeysFile), c.sealing
	if c.Store.Durable() {
		folder, err := c.program.Trust()
		if err == nil {
			err = folder.Apart(c.Env(), c.folder())
		}
		if err == nil {
			err = s.makeSealing(folder)
		}
		switch {
		case err == nil:
			s.private = func() (ed25519.PrivateKey, error) { return folder.Key(nil) }
		case errors.Is(err, trust.ErrNowhere):
			s.Log.Warn("the keys that sign proofs and seal sessions end with the process", zap.Error(err))
		default:
			return err
		}
	}
	if s.private == nil {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return err
		}
		s.private = func() (ed25519.PrivateKey, error) { return key, nil }
	}
	_, err := s.signer(ctx)
	return err
}

// makeSealing finds the keys of what clients keep: from --session-key, or else from the folder of trust.
func (s *Server) makeSealing(folder trust.Folder) error {
	if s.sealing != nil {
		return nil
	}
	if s.jobs.localSessions() {
		s.Log.Warn("without --session-key, which each node needs, clients keep their sessions at this node alone")
	}
	secret, err := folder.Sealing()
	s.sealing = seal.Keys{secret}
	return err
}

// Sealing returns what seals the sessions of clients, and what keeps their changes.
func (s *Server) Sealing() (seal.Keys, seal.Rows) { return s.sealing, s.rows }

// readSealing reads the file of --session-key.
func readSealing(file string, secrets *redact.Secrets) (keys seal.Keys, err error) {
	f, info, err := regular.Open(file)
	if err == nil {
		defer f.Close()
		err = auth.CheckMode(file, info.Mode())
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, 4<<10))
	}
	if err == nil {
		secrets.AddText("key", string(text))
		keys, err = seal.Parse(string(text))
	}
	if err != nil {
		err = &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("--session-key %s: %w", file, err)}
	}
	return keys, err
}

// signer returns the private key, which lastword key may have replaced, once its public half is in the journal's list.
func (s *Server) signer(ctx context.Context) (ed25519.PrivateKey, error) {
	key, err := s.private()
	if err != nil {
		return nil, err
	}
	public := key.Public().(ed25519.PublicKey)
	if dir := s.jobs.folder(); dir != "" {
		_, err = store.Publish(dir, public)
		return key, err
	}
	return key, s.keys.change(ctx, func(keys *store.Keys) error {
		if !key.Equal(s.signed) {
			s.before, s.signed = s.signed, key // lastword key has replaced it
		}
		*keys = keys.Enter(public, s.before)
		return nil
	})
}

// prove writes the signed log of a run. It refuses a log that contains a secret of this process, because redacting
// would invalidate the signature.
func (s *Server) prove(ctx context.Context, run messages.RunID, w io.Writer) error {
	key, err := s.signer(ctx)
	if err != nil {
		return err
	}
	return journal.WriteProof(w, run, func(yield func(journal.StoredBlock, error) bool) {
		before := s.entered(ctx, run)
		var blocks journal.Hash
		for b, err := range s.system.Blocks(ctx, run) {
			blocks = blocks.With(b.Digest)
			if b.Terminal && before != "" && before != blocks.String() && s.entered(ctx, run) != blocks.String() {
				err = messages.Errorf(messages.CodeConflict, "the log of run %s is not the one that it ended with: it has no proof to show", run)
			}
			for _, line := range b.Lines {
				if err == nil && !bytes.Equal(s.jobs.program.Secrets.Bytes(bytes.Clone(line)), line) {
					err = messages.Errorf(messages.CodeConflict, "the log of run %s holds a secret of the server: it has no proof to show", run)
				}
			}
			if !yield(b, err) {
				return
			}
		}
	}, key)
}

// entered returns what the ledger says of the blocks of an ended run, or "". It changes when the log is merged.
func (s *Server) entered(ctx context.Context, run messages.RunID) string {
	if ledger, ok := s.jobs.store.Journal.(interface {
		Entry(context.Context, messages.RunID) (journal.Entry, error)
	}); ok {
		e, _ := ledger.Entry(ctx, run) // without an entry there is nothing to compare
		return e.Blocks
	}
	return ""
}
