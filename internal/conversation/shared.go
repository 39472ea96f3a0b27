package conversation

import (
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// Shared keeps the logs of conversations where several nodes find them.
type Shared struct {
	// Open returns functions for the log with the name. read returns the lines from the offset in bytes on, in the same
	// order for all nodes, and the offset never decreases; add writes a line with its end.
	Open func(id string) (read func(after int64) ([]byte, error), add func(line []byte) error)
	// IDs returns the names of the logs that have lines.
	IDs func() ([]string, error)
}

// NewShared returns the Store of logs that several nodes share. It starts no more than most conversations.
func NewShared(logs Shared, most int) *Store { return &Store{sharedPlace{logs, most}} }

// sharedPlace implements place with logs that several nodes share.
type sharedPlace struct {
	logs Shared
	most int
}

func (p sharedPlace) open(id string, create bool) (journal, error) {
	l := &sharedLog{}
	l.read, l.add = p.logs.Open(id)
	begun, err := l.read(0)
	if err != nil || len(begun) > 0 {
		return l, err
	}
	if !create {
		return nil, nil
	}
	ids, err := p.logs.IDs()
	if err == nil {
		err = full(len(ids), p.most)
	}
	return l, err
}

func (p sharedPlace) ids() ([]string, error) { return p.logs.IDs() }

func (p sharedPlace) remove(id string) error {
	return messages.Errorf(messages.CodeUnavailable, "the conversation %s is shared by several servers, and stays", id)
}

// sharedLog implements journal with a log that several nodes share. No node holds its lock: a turn whose node has died
// goes on at another node, under the same owner.
type sharedLog struct {
	read func(after int64) ([]byte, error)
	add  func(line []byte) error
}

func (l *sharedLog) after(bytes int64) ([]byte, error) { return l.read(bytes) }
func (l *sharedLog) append(line []byte) error          { return l.add(append(slices.Clone(line), '\n')) }
func (l *sharedLog) hold() bool                        { return false }
func (l *sharedLog) sync() error                       { return nil }
func (l *sharedLog) Close() error                      { return nil }
