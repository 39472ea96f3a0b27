package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Journal keeps the events of runs. Implementations are safe for concurrent use.
type Journal interface {
	// Append keeps the block right after the run's head, all or nothing, and then calls done once, from any goroutine,
	// even before Append returns. It never blocks. At most one block of a run is under way at a time. done gets nil once
	// the block is durable; ErrFenced when the head is not the block's first From - 1, or ErrSealed when it is a
	// terminal: somebody else has written; ErrUnknown when nobody can say whether the block landed; a *KeyUsedError when
	// the key is taken; and any other error when the block did not land and may be tried again.
	Append(b Block, done func(error))
	// Read returns events of the run whose Seq is past after, in order, at most a batch; none at the head. An unknown
	// run is a not_found error.
	Read(ctx context.Context, run messages.RunID, after uint64) ([]messages.Event, error)
	// List returns the runs that the query selects, ended ones among them until they expire: newest updated first, ties
	// by id, and no more than [messages.Query.Most]. A block is in it once its append has ended.
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	// Unfinished lists the runs without a terminal.
	Unfinished(ctx context.Context) ([]messages.RunID, error)
	// Expire forgets whole logs of ended runs: those that ended before the time, and then the oldest until the rest is
	// within the bytes. It returns how many logs of ended runs are left.
	Expire(ctx context.Context, before time.Time, bytes int64) (left int, err error)
}

// Block is what is appended at once.
type Block struct {
	Run    messages.RunID
	Events []messages.Event
	// Key, where it is set, is taken by this run in the same transaction; only a run's first block has one.
	Key Key
}

// Key is an idempotency key with what it was used for.
type Key struct {
	Principal, Key string
	// Input is the digest of the job's name and input.
	Input string
}

// Errors that a Journal's Append may end with.
var (
	ErrFenced  = errors.New("the run's log is owned by somebody else")
	ErrSealed  = errors.New("the run's log has its terminal")
	ErrUnknown = errors.New("the outcome of the append is not known")
)

// KeyUsedError says that the idempotency key belongs to a run already.
type KeyUsedError struct {
	Run   messages.RunID
	Input string
}

// Error names the run that has the key.
func (e *KeyUsedError) Error() string { return fmt.Sprintf("the key is that of run %s", e.Run) }
