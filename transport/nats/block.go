package nats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// token returns the run's id as a token of subjects. ok is false for what cannot be the id of a run.
func token(run messages.RunID) (t string, ok bool) {
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	}
	if run == "" || len(run) > 200 || strings.ContainsFunc(string(run), odd) {
		return "", false
	}
	return strings.ReplaceAll(string(run), ".", "~"), true
}

// runOf returns the run of a subject whose second token is the run's, and the subject's third token.
func runOf(subject string) (run messages.RunID, what string) {
	_, rest, _ := strings.Cut(subject, ".")
	id, what, _ := strings.Cut(rest, ".")
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
	// Bytes is the size of the log, and Parted whether any block of it has parts.
	Bytes  int64 `json:"bytes"`
	Parted bool  `json:"parted,omitempty"`

	Status    messages.Status `json:"status"`
	Canceling bool            `json:"canceling,omitempty"`
	Cause     messages.Cause  `json:"cause,omitempty"`
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

// newMark returns the mark of a block whose events have so many bytes, after the mark of the block before it.
func newMark(b actors.Block, before mark, size int) mark {
	s := messages.Summary{Status: before.Status, Canceling: before.Canceling, Cause: before.Cause, OpenRequests: before.Requests}
	for _, e := range b.Events {
		s.Add(e)
	}
	m := mark{ID: b.ID.String(), First: b.Events[0].From, Last: s.Seq, Epoch: max(before.Epoch, b.After.Epoch, b.Epoch),
		Writer: b.Writer, Bytes: before.Bytes + int64(size), Parted: before.Parted, Status: s.Status,
		Canceling: s.Canceling, Cause: s.Cause, Requests: s.OpenRequests, UpdatedAt: s.UpdatedAt}
	if b.After.Seq == 0 {
		m.Opened = &opened{Job: s.Job, Input: s.Input, Principal: s.Principal, Labels: s.Labels, QueuedAt: s.QueuedAt}
	}
	return m
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

func (s stored) head() actors.Head {
	return actors.Head{Seq: s.Last, Epoch: s.Epoch, At: s.at, Ended: s.ended()}
}

// encode returns the events' wire forms, one per line.
func encode(events []messages.Event) ([]byte, error) {
	var out []byte
	for _, e := range events {
		line, err := e.JSON()
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
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

func errNotFound(run messages.RunID) error {
	return messages.Errorf(messages.CodeNotFound, "there is no run %s", run)
}

func errBroken(run messages.RunID, why any) error {
	return messages.Errorf(messages.CodeUnavailable, "the log of run %s in stream %s is damaged: %v", run, streamName, why)
}
