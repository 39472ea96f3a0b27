package nats

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// JetStream limits subjects to 4 kB and headers to 64 kB. So the subject has a hash of a long run id, and a header has
// the id.
const (
	longestToken = 200
	longestID    = 16 << 10
	runHeader    = "Lastword-Run"
	hashed       = "="
)

// token returns the run's id as a token in subjects. ok is false if it cannot be the id of a run.
func token(run messages.RunID) (t string, ok bool) {
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	}
	if run == "" || len(run) > longestID || strings.ContainsFunc(string(run), odd) {
		return "", false
	}
	if len(run) > longestToken {
		sum := sha256.Sum256([]byte(run))
		return hashed + base64.RawURLEncoding.EncodeToString(sum[:]), true
	}
	return strings.ReplaceAll(string(run), ".", "~"), true
}

// named adds a header with the run's id if the token does not contain it.
func named(h nats.Header, token string, run messages.RunID) nats.Header {
	if strings.HasPrefix(token, hashed) {
		h[runHeader] = []string{string(run)}
	}
	return h
}

// runOf returns the run that a message belongs to, and the last token of its subject. The one before is the run's.
func runOf(subject string, h nats.Header) (run messages.RunID, what string) {
	if in, rest, ok := strings.Cut(subject, ".run."); ok && strings.HasPrefix(in, "shard.") {
		subject = "run." + rest
	}
	_, rest, _ := strings.Cut(subject, ".")
	id, what, _ := strings.Cut(rest, ".")
	if strings.HasPrefix(id, hashed) {
		return messages.RunID(h.Get(runHeader)), what
	}
	return messages.RunID(strings.ReplaceAll(id, "~", ".")), what
}

// blockHeader is the header that holds a block's mark.
const blockHeader = "Lastword-Block"

// mark describes a block, and summarizes the run's log up to and including it. Later versions only add fields.
type mark struct {
	ID     string `json:"id"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Epoch  uint64 `json:"epoch,omitempty"` // the greatest in the log
	Writer string `json:"writer,omitempty"`
	// Parts is the number of messages that hold the block's events; 0 if the block's own message does.
	Parts int `json:"parts,omitempty"`
	// Aside is how many bytes at the beginning of the message's data hold what does not fit the header.
	Aside int `json:"aside,omitempty"`
	// Chain is the journal.Chain after the block. Digest is the digest of the journal.StoredBlock. They are missing if an
	// older version has written to the log.
	Chain  []byte `json:"chain,omitempty"`
	Digest []byte `json:"digest,omitempty"`
	// Blocks is the hash over the digests so far, see journal.Hash.With. It is missing if an older version has written.
	Blocks []byte `json:"blocks,omitempty"`
	// Bytes is the size of the log. Parted says whether any of its blocks has parts.
	Bytes  int64 `json:"bytes"`
	Parted bool  `json:"parted,omitempty"`

	Status    messages.Status `json:"status"`
	Canceling bool            `json:"canceling,omitempty"`
	Cause     messages.Code   `json:"cause,omitempty"`
	Requests  []string        `json:"open_requests,omitempty"`
	UpdatedAt time.Time       `json:"updated_at"`
	// Purse has what was spent. It is short if an older version has written to the log.
	Purse *messages.Purse `json:"purse,omitempty"`
	// Opened is set only in the first block.
	Opened *opened `json:"opened,omitempty"`
}

// opened holds what never changes about a run.
type opened struct {
	Job       string            `json:"job"`
	Input     string            `json:"input,omitempty"`
	Principal string            `json:"principal,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	QueuedAt  time.Time         `json:"queued_at"`
	Budget    *messages.Budget  `json:"budget,omitempty"`
}

// overflow is the part of a mark that may not fit a header.
type overflow struct {
	Requests []string `json:"open_requests,omitempty"`
	Opened   *opened  `json:"opened,omitempty"`
}

// header returns the mark as a header. data is the part that does not fit, or nil.
func (m *mark) header() (head, data []byte, err error) {
	if head, err = json.Marshal(m); err != nil || len(head) <= largestHeader {
		return head, nil, err
	}
	if data, err = json.Marshal(overflow{m.Requests, m.Opened}); err != nil {
		return nil, nil, err
	}
	short := *m
	short.Requests, short.Aside = nil, len(data)
	if m.Opened != nil {
		o := *m.Opened
		o.Labels, o.Input = nil, ""
		short.Opened = &o
	}
	if head, err = json.Marshal(short); err == nil && len(head) > largestHeader {
		err = errTooLarge
	}
	return head, data, err
}

// whole completes the mark from the message's data, and returns the rest of the data.
func (m *mark) whole(data []byte) (rest []byte, err error) {
	if m.Aside == 0 {
		return data, nil
	}
	if m.Aside > len(data) {
		return nil, fmt.Errorf("its header says that %d bytes are aside, of %d", m.Aside, len(data))
	}
	var a overflow
	if err := json.Unmarshal(data[:m.Aside], &a); err != nil {
		return nil, err
	}
	rest = data[m.Aside:]
	m.Requests, m.Aside = a.Requests, 0
	if a.Opened != nil {
		m.Opened = a.Opened
	}
	return rest, nil
}

// newMark returns the mark of a block that is kept so, with bytes of data. before is the mark of the preceding block.
func newMark(b journal.Block, before mark, stored journal.StoredBlock, bytes int) mark {
	s := messages.Summary{Status: before.Status, Canceling: before.Canceling, Cause: before.Cause, OpenRequests: before.Requests, Purse: before.Purse}
	for _, e := range b.Events {
		s.Add(e)
	}
	m := mark{ID: b.ID.String(), First: stored.First, Last: stored.Last, Epoch: max(before.Epoch, b.After.Epoch, b.Epoch),
		Writer: b.Writer, Bytes: before.Bytes + int64(bytes), Parted: before.Parted, Status: s.Status,
		Canceling: s.Canceling, Cause: s.Cause, Requests: s.OpenRequests, UpdatedAt: s.UpdatedAt, Purse: s.Purse}
	if b.After.Seq == 0 {
		m.Opened = &opened{Job: s.Job, Input: s.Input, Principal: s.Principal, Labels: s.Labels, QueuedAt: s.QueuedAt, Budget: s.Budget}
	}
	if b.After.Seq == 0 || len(before.Chain) > 0 {
		stored.Epoch = m.Epoch
		var hash journal.Hash
		copy(hash[:], before.Chain)
		hash = stored.Seal(hash, b.Events)
		m.Chain, m.Digest = hash[:], stored.Digest[:]
	}
	if b.After.Seq == 0 || len(before.Blocks) > 0 {
		var all journal.Hash
		copy(all[:], before.Blocks)
		all = all.With(stored.Digest)
		m.Blocks = all[:]
	}
	return m
}

func (m mark) ended() bool { return m.Status.IsEnded() }

// The last tokens of subjects of blocks: the first of a run; one that changes what lists select, which all nodes hear too;
// and all others.
const (
	opening = "q"
	change  = "s"
	other   = "e"
)

// kind returns the last token of the block's subject. before is the mark of the preceding block.
func (m *mark) kind(before mark) string {
	switch {
	case before.Last == 0:
		return opening
	case m.Status != before.Status, m.Canceling != before.Canceling, m.Cause != before.Cause, m.Epoch != before.Epoch,
		!slices.Equal(m.Requests, before.Requests):
		return change
	}
	return other
}

// markOf reads the mark in a message's header.
func markOf(h nats.Header) (m mark, err error) {
	if err = json.Unmarshal([]byte(h.Get(blockHeader)), &m); err == nil && (m.First == 0 || m.Last < m.First) {
		err = fmt.Errorf("its header says events %d to %d", m.First, m.Last)
	}
	return m, err
}

// stored is a block in the stream, at the stream sequence at.
type stored struct {
	mark
	at   uint64
	data []byte
}

// errBroken returns the error for a damaged log.
func errBroken(run messages.RunID, why any) error {
	return messages.Errorf(messages.CodeUnavailable, "the log of run %s is damaged: %v", run, why)
}
