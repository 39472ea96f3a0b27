package nats

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// ledgerStream holds the ledgers of ends. Nothing in it expires.
const ledgerStream = "LEDGER"

// Headers of an entry.
const (
	keyHeader       = "Lastword-Key"
	signatureHeader = "Lastword-Signature"
)

// SignedBy gives the node's ledger of ends the function that returns the key that signs. Without it, and where the function
// fails, entries are not signed.
func SignedBy(key func() (ed25519.PrivateKey, error)) Option {
	return func(o *options) { o.sign = key }
}

// ledger is what this node knows of its own ledger. Each key that signs has one, at its own subject. mu is held while
// an entry is sent.
type ledger struct {
	sign journal.Signer
	// began is the position when the first ledger began. Several streams are as old as the ledger: it is 0 then.
	began uint64
	// entering are the entries that are on their way. Close waits for them.
	entering sync.WaitGroup

	mu sync.Mutex
	at map[string]journal.Ledger // by subject
}

// ledgerOf returns the subject for the entries that the key signs.
func ledgerOf(key ed25519.PrivateKey) string {
	if len(key) != ed25519.PrivateKeySize {
		return "ledger.unsigned"
	}
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	return "ledger." + hex.EncodeToString(sum[:8])
}

// openLedger creates the stream unless it exists. The first entry in it sums up the runs that have ended before.
func (j *Journal) openLedger(ctx context.Context) error {
	if err := retry(ctx, j.makeLedger, jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeStreamNameInUse); err != nil {
		return err
	}
	first, err := j.get(ctx, getRequest{stream: ledgerStream, Seq: 1})
	if codeOf(err) == jetstream.JSErrCodeMessageNotFound {
		if err = j.beginLedger(ctx, j.shards[0].stream.CachedInfo().State.LastSeq); err == nil {
			first, err = j.get(ctx, getRequest{stream: ledgerStream, Seq: 1})
		}
	}
	if err != nil {
		return err
	}
	var e journal.Entry
	_ = json.Unmarshal(first.Data, &e) // a check finds what is damaged
	j.ledger.began = e.Position
	return nil
}

func (j *Journal) makeLedger(ctx context.Context) error {
	_, err := j.js.Stream(ctx, ledgerStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = j.js.CreateStream(ctx, jetstream.StreamConfig{Name: ledgerStream, Description: "the ledgers of lastword: it must not expire",
			Subjects: []string{"ledger.>"}, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
			Replicas: j.shards[0].stream.CachedInfo().Config.Replicas, AllowDirect: true, DenyDelete: true, DenyPurge: true})
	}
	return err
}

// beginLedger adds the first entry of all ledgers, unless another node was faster.
func (j *Journal) beginLedger(ctx context.Context, position uint64) error {
	if err := j.indexed(ctx); err != nil {
		return err
	}
	if len(j.shards) > 1 {
		position = 0
	}
	e := journal.Entry{Kind: journal.EntryOpened, Salt: journal.SaltDigest(j.salt[:]), Position: position}
	var roots []string
	j.index.mu.Lock()
	for run, r := range j.index.runs {
		if r.ended() && r.at <= position {
			roots = append(roots, j.entry(run, &r.stored, journal.EntryEnded).Root())
		}
	}
	j.index.mu.Unlock()
	e.Runs, e.Past = len(roots), journal.Past(roots, nil)
	return j.enter(ctx, e)
}

// entry returns the entry about the log that ends with the block. Its position is unique among all streams.
func (j *Journal) entry(run messages.RunID, s *stored, kind journal.EntryKind) journal.Entry {
	return journal.Entry{Kind: kind, Run: run, Status: s.Status, Seq: s.Last, Chain: hex.EncodeToString(s.Chain),
		Blocks: hex.EncodeToString(s.Blocks), Position: s.at*uint64(len(j.shards)) + uint64(j.shardOf(run))}
}

// noteEnd enters the end of the run that this node has written, beside the caller: finish repeats what fails.
func (j *Journal) noteEnd(run messages.RunID, last stored) {
	j.claims.mu.Lock()
	defer j.claims.mu.Unlock()
	if j.ctx.Err() != nil {
		return
	}
	j.ledger.entering.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), appendTimeout)
		defer cancel()
		if err := j.enterEnd(ctx, run, last); err != nil {
			j.log.Warn("the ledger has no entry yet", zap.String("run", string(run)), zap.Error(err))
		}
	})
}

// enterEnd enters the end of a run, unless the first entry counts it.
func (j *Journal) enterEnd(ctx context.Context, run messages.RunID, last stored) error {
	if last.at <= j.ledger.began {
		return nil
	}
	return j.enter(ctx, j.entry(run, &last, journal.EntryEnded))
}

// enter adds an entry to the ledger of the key that signs. The stream drops it if any node has added the same two minutes
// ago at most; later, it does no harm.
func (j *Journal) enter(ctx context.Context, e journal.Entry) error {
	l := &j.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	key := l.sign.Key()
	subject := ledgerOf(key)
	for {
		head, known := l.at[subject]
		if !known {
			last, err := j.get(ctx, getRequest{stream: ledgerStream, LastFor: subject})
			if err != nil && codeOf(err) != jetstream.JSErrCodeMessageNotFound {
				return explained(err)
			}
			if err == nil {
				var before journal.Entry
				_ = json.Unmarshal(last.Data, &before) // a check finds what is damaged
				head = journal.Ledger{Entries: before.Number, Head: sha256.Sum256(last.Data), At: last.seq}
			}
		}
		expect := jetstream.WithExpectLastSequencePerSubject(head.At)
		if e.Kind == journal.EntryOpened {
			expect = jetstream.WithExpectLastSequence(0)
		}
		s, err := head.Seal(e, key)
		if err != nil {
			return err
		}
		ack, err := j.send(ctx, &nats.Msg{Subject: subject, Data: s.Line, Header: nats.Header{
			nats.MsgIdHdr:   {messages.Digest(string(e.Kind) + " " + e.Root())},
			keyHeader:       {base64.StdEncoding.EncodeToString(s.Key)},
			signatureHeader: {base64.StdEncoding.EncodeToString(s.Signature)}}}, expect)
		if err == nil {
			if !ack.Duplicate {
				head.At = ack.Sequence
				l.at[subject] = head
			}
			return nil
		}
		delete(l.at, subject)
		if codeOf(err) != jetstream.JSErrCodeStreamWrongLastSequence {
			return explained(err)
		}
		if e.Kind == journal.EntryOpened {
			return nil
		}
	}
}
