package nats

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// A subject is at most 4 kB, and a header at most 64 kB. A long id has its hash in the subject and is itself in a header.
const (
	longestToken = 200
	longestID    = 16 << 10
	runHeader    = "Lastword-Run"
	hashed       = "="
)

// token returns the run's id as a token of subjects. ok is false for what cannot be the id of a run.
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

// named adds the run's id if the token does not say it.
func named(h nats.Header, token string, run messages.RunID) nats.Header {
	if strings.HasPrefix(token, hashed) {
		h[runHeader] = []string{string(run)}
	}
	return h
}

// runOf returns the run of a message whose subject's second token is the run's, and the subject's third token.
func runOf(subject string, h nats.Header) (run messages.RunID, what string) {
	_, rest, _ := strings.Cut(subject, ".")
	id, what, _ := strings.Cut(rest, ".")
	if strings.HasPrefix(id, hashed) {
		return messages.RunID(h.Get(runHeader)), what
	}
	return messages.RunID(strings.ReplaceAll(id, "~", ".")), what
}

// logOf is the filter of a run's whole log.
func logOf(token string) string { return "run." + token + ".>" }

// blockHeader is the header of a message that holds the block's mark.
const blockHeader = "Lastword-Block"

// mark says what a block is, and what the run's log adds up to with it. Fields are only added.
type mark struct {
	ID     string `json:"id"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Epoch  uint64 `json:"epoch,omitempty"` // the greatest of the log
	Writer string `json:"writer,omitempty"`
	// Parts is how many messages hold the events, or 0 if the block's own does.
	Parts int `json:"parts,omitempty"`
	// Aside is how many bytes of the message's data, its first, hold what the header has no room for.
	Aside int `json:"aside,omitempty"`
	// Chain is the hash of journal.Chain after the block, and Digest that of journal.StoredBlock. A log that an older
	// version has written to has none from there on.
	Chain  []byte `json:"chain,omitempty"`
	Digest []byte `json:"digest,omitempty"`
	// Bytes is the size of the log, and Parted whether any block of it has parts.
	Bytes  int64 `json:"bytes"`
	Parted bool  `json:"parted,omitempty"`

	Status    messages.Status `json:"status"`
	Canceling bool            `json:"canceling,omitempty"`
	Cause     messages.Code   `json:"cause,omitempty"`
	Requests  []string        `json:"open_requests,omitempty"`
	UpdatedAt time.Time       `json:"updated_at"`
	// Opened is in the first block alone.
	Opened *opened `json:"opened,omitempty"`
}

// opened is what never changes about a run.
type opened struct {
	Job       string            `json:"job"`
	Input     string            `json:"input,omitempty"`
	Principal string            `json:"principal,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	QueuedAt  time.Time         `json:"queued_at"`
}

// aside is what a header may have no room for.
type aside struct {
	Requests []string `json:"open_requests,omitempty"`
	Opened   *opened  `json:"opened,omitempty"`
}

// header returns the mark as a header, and in data what does not fit it.
func (m *mark) header() (head, data []byte, err error) {
	if head, err = json.Marshal(m); err != nil || len(head) <= largestHeader {
		return head, nil, err
	}
	if data, err = json.Marshal(aside{m.Requests, m.Opened}); err != nil {
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

// whole takes from the message's data what was not in the header, and returns the rest.
func (m *mark) whole(data []byte) (rest []byte, err error) {
	if m.Aside == 0 {
		return data, nil
	}
	if m.Aside > len(data) {
		return nil, fmt.Errorf("its header says that %d bytes are aside, of %d", m.Aside, len(data))
	}
	var a aside
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

// newMark returns the mark of a block with these lines, after the mark of the block before it.
func newMark(b journal.Block, before mark, lines [][]byte) mark {
	s := messages.Summary{Status: before.Status, Canceling: before.Canceling, Cause: before.Cause, OpenRequests: before.Requests}
	for _, e := range b.Events {
		s.Add(e)
	}
	m := mark{ID: b.ID.String(), First: b.Events[0].From, Last: s.Seq, Epoch: max(before.Epoch, b.After.Epoch, b.Epoch),
		Writer: b.Writer, Bytes: before.Bytes + int64(size(lines)), Parted: before.Parted, Status: s.Status,
		Canceling: s.Canceling, Cause: s.Cause, Requests: s.OpenRequests, UpdatedAt: s.UpdatedAt}
	if b.After.Seq == 0 {
		m.Opened = &opened{Job: s.Job, Input: s.Input, Principal: s.Principal, Labels: s.Labels, QueuedAt: s.QueuedAt}
	}
	if b.After.Seq == 0 || len(before.Chain) > 0 {
		k := m.kept(b.ID, lines)
		var hash journal.Hash
		copy(hash[:], before.Chain)
		hash = k.Seal(hash, b.Events)
		m.Chain, m.Digest = hash[:], k.Digest[:]
	}
	return m
}

// kept returns the block of the mark, without its seal.
func (m mark) kept(id journal.BlockID, lines [][]byte) journal.StoredBlock {
	return journal.StoredBlock{First: m.First, Last: m.Last, ID: id, Writer: m.Writer, Epoch: m.Epoch, Terminal: m.ended(), Lines: lines}
}

func (m mark) ended() bool { return m.Status.IsEnded() }

func markOf(h nats.Header) (m mark, err error) {
	if err = json.Unmarshal([]byte(h.Get(blockHeader)), &m); err == nil && (m.First == 0 || m.Last < m.First) {
		err = fmt.Errorf("its header says events %d to %d", m.First, m.Last)
	}
	return m, err
}

// stored is a block in the stream, at a stream sequence.
type stored struct {
	mark
	at   uint64
	data []byte
}

func (s stored) head() journal.Head {
	return journal.Head{Seq: s.Last, Epoch: s.Epoch, At: s.at, Ended: s.ended()}
}

// encode returns the events' wire forms.
func encode(events []messages.Event) (lines [][]byte, err error) {
	for _, e := range events {
		line, err := e.JSON()
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// join returns the data of a message, in which a line break ends each line. Only one of an unknown kind may have more.
func join(lines [][]byte) []byte {
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

func size(lines [][]byte) int {
	n := len(lines)
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// split returns the lines of what join has returned.
func split(data []byte) (lines [][]byte, err error) {
	for from := json.NewDecoder(bytes.NewReader(data)); from.More(); {
		var line json.RawMessage
		if err := from.Decode(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// decode returns the events past the number.
func decode(data []byte, after uint64) ([]messages.Event, error) {
	var events []messages.Event
	for lines := json.NewDecoder(bytes.NewReader(data)); lines.More(); {
		var e messages.Event
		if err := lines.Decode(&e); err != nil {
			return nil, err
		}
		if e.Seq > after {
			events = append(events, e)
		}
	}
	return events, nil
}

func errBroken(run messages.RunID, why any) error {
	return messages.Errorf(messages.CodeUnavailable, "the log of run %s in stream %s is damaged: %v", run, streamName, why)
}
