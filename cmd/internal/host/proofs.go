package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/messages"
)

// makeKeys finds the private key of this node, in the folder of trust, and adds its public half to those of the journal.
// If the journal is in memory, or the user has no home, the key ends with the process.
func (i *Server) makeKeys(ctx context.Context) error {
	h := i.options
	i.keys = &marks[store.Keys]{options: h, name: store.KeysFile}
	if h.Store.Durable() {
		kept, err := h.program.Trust()
		if err == nil {
			err = kept.Apart(h.program.Env, h.Store.Folder(h.Env()))
		}
		switch {
		case err == nil:
			i.private = func() (ed25519.PrivateKey, error) { return kept.Key(nil) }
		case errors.Is(err, trust.ErrNowhere):
			i.Log.Warn("the key that signs proofs ends with the process", zap.Error(err))
		default:
			return err
		}
	}
	if i.private == nil {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return err
		}
		i.private = func() (ed25519.PrivateKey, error) { return key, nil }
	}
	_, err := i.signer(ctx)
	return err
}

// signer returns the private key, which lastword key may have replaced, once its public half is in the journal's list.
func (i *Server) signer(ctx context.Context) (ed25519.PrivateKey, error) {
	key, err := i.private()
	if err != nil {
		return nil, err
	}
	public := key.Public().(ed25519.PublicKey)
	if dir := i.options.Store.Folder(i.options.Env()); dir != "" {
		_, err = store.Publish(dir, public)
		return key, err
	}
	keys, err := i.keys.load(ctx)
	if with := keys.With(public); err == nil && len(with.Public) > len(keys.Public) {
		err = i.keys.save(ctx, with)
	}
	return key, err
}

// prove writes the signed log of a run. It refuses a log that contains a secret of this process, because redacting
// would invalidate the signature.
func (i *Server) prove(ctx context.Context, run messages.RunID, w io.Writer) error {
	key, err := i.signer(ctx)
	if err != nil {
		return err
	}
	return journal.WriteProof(w, run, func(yield func(journal.StoredBlock, error) bool) {
		for b, err := range i.system.Blocks(ctx, run) {
			for _, line := range b.Lines {
				if err == nil && !bytes.Equal(i.options.Secrets.Bytes(bytes.Clone(line)), line) {
					err = messages.Errorf(messages.CodeConflict, "the log of run %s holds a secret of the server: it has no proof to show", run)
				}
			}
			if !yield(b, err) {
				return
			}
		}
	}, key)
}
