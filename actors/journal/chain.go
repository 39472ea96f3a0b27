package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/seed889630bf/lastword/messages"
)

// Hash is a SHA-256 digest.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// With returns the hash over the hash and another one.
func (h Hash) With(next Hash) Hash { return sha256.Sum256(append(h[:], next[:]...)) }

// Chain is a position in a log: the number of its last event, and a hash over its milestones. The hash of a milestone
// is the SHA-256 of the previous hash, zeros at first, and the milestone's JSON. Deltas are left out, so merging them
// and cutting the log into other blocks keep the hash.
type Chain struct {
	Seq  uint64
	Hash Hash
}

// StoredBlock is a block as a journal keeps it.
type StoredBlock struct {
	First, Last uint64
	// ID is zero for a block that was merged from several.
	ID       BlockID
	Writer   string
	Epoch    uint64
	Terminal bool
	// Before is the chain's hash before the block. Digest covers all other fields.
	Before, Digest Hash
	// Lines are the events in JSON.
	Lines [][]byte
}

// Stored encodes the block, without its chain and its digest. Errors: invalid_input if the block has no events.
func (b Block) Stored() (StoredBlock, error) {
	if len(b.Events) == 0 {
		return StoredBlock{}, messages.InvalidInput("a block has no events")
	}
	last := b.Events[len(b.Events)-1]
	s := StoredBlock{First: b.Events[0].From, Last: last.Seq, ID: b.ID, Writer: b.Writer, Epoch: b.Epoch, Terminal: last.IsTerminal()}
	for _, e := range b.Events {
		line, err := e.JSON()
		if err != nil {
			return s, err
		}
		s.Lines = append(s.Lines, line)
	}
	return s, nil
}

// Seal sets Before and Digest, and returns the chain's hash after the block. Lines must hold the same events.
func (b *StoredBlock) Seal(before Hash, events []messages.Event) (after Hash) {
	b.Before = before
	b.Digest = b.sum()
	return b.after(events)
}

// after returns the chain's hash after the events.
func (b *StoredBlock) after(events []messages.Event) Hash {
	hash := b.Before
	link := sha256.New()
	for i, e := range events {
		if !e.IsDelta() {
			link.Reset()
			link.Write(hash[:])
			link.Write(b.Lines[i])
			link.Sum(hash[:0])
		}
	}
	return hash
}

// sum returns the digest of the block.
func (b *StoredBlock) sum() (sum Hash) {
	h := sha256.New()
	head := make([]byte, 0, 128)
	for _, n := range []uint64{b.First, b.Last, b.Epoch, uint64(len(b.Writer))} {
		head = binary.BigEndian.AppendUint64(head, n)
	}
	head = append(append(append(head, b.Writer...), b.ID[:]...), b.Before[:]...)
	head = strconv.AppendBool(head, b.Terminal)
	h.Write(head)
	for _, line := range b.Lines {
		h.Write(binary.AppendUvarint(head[:0], uint64(len(line))))
		h.Write(line)
	}
	h.Sum(sum[:0])
	return sum
}

// Events decodes the Lines.
func (b *StoredBlock) Events() ([]messages.Event, error) {
	events := make([]messages.Event, len(b.Lines))
	for i, line := range b.Lines {
		if err := events[i].UnmarshalKept(line); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// Check checks that the block is whole and continues a log at the given position. It returns the position after the
// block, and the block's events. The error is a [*Fault].
func (b *StoredBlock) Check(chain Chain) (Chain, []messages.Event, error) {
	events, err := b.Events()
	n, rule, says := len(events), ruleChain, ""
	switch {
	case b.sum() != b.Digest:
		rule, says = RuleBlock, "the block's digest is another one"
	case err != nil:
		rule, says = RuleBlock, err.Error()
	case b.Before != chain.Hash:
		says = fmt.Sprintf("the block's chain begins at %s, the log before it ends at %s", b.Before, chain.Hash)
	case b.First != chain.Seq+1 || n == 0 || events[0].From != b.First || events[n-1].Seq != b.Last || events[n-1].IsTerminal() != b.Terminal:
		says = fmt.Sprintf("the block does not follow event %d, or does not hold its events", chain.Seq)
	default:
		return Chain{Seq: b.Last, Hash: b.after(events)}, events, nil
	}
	return chain, nil, &Fault{Seq: chain.Seq + 1, Rule: rule, Says: says}
}
