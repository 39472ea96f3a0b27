package host

import (
	"bytes"
	"context"
	"io"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/actors/journal/proof"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/messages"
)

// makeKeys creates the server's signing key if there is none. Nodes with a common store share the key.
func (i *Server) makeKeys(ctx context.Context) error {
	i.keys = &marks[store.Keys]{options: i.options, name: store.KeysFile}
	keys, err := i.keys.load(ctx)
	if err == nil && len(keys.Public) == 0 {
		err = i.keys.save(ctx, keys.Rotated())
	}
	return err
}

// prove writes the signed log of a run. It refuses a log that contains a secret of this process, because redacting
// would invalidate the signature.
func (i *Server) prove(ctx context.Context, run messages.RunID, w io.Writer) error {
	keys, err := i.keys.load(ctx) // lastword key may have rotated them
	if err != nil {
		return err
	}
	return proof.Write(w, run, func(yield func(journal.StoredBlock, error) bool) {
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
	}, keys.Private())
}
