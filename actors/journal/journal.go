package journal

import (
	"context"
	"encoding/hex"
	"errors"
	"iter"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Reader is the part of a journal that anybody may use beside the nodes that write. Implementations are safe for
// concurrent use.
type Reader interface {
	// Read returns the run's events past after, in order: at most a batch, and none at the head. It sees every block
	// that had landed when it was called, up to the batch. An unknown run is a not_found error.
	Read(ctx context.Context, run messages.RunID, after uint64) (Page, error)
	// Blocks yields the blocks of the run's log as they are kept, in order, for [StoredBlock.Check]. It ends with the
	// first error; for an unknown run that is not_found.
	Blocks(ctx context.Context, run messages.RunID) iter.Seq2[StoredBlock, error]
	// List returns the runs that the query selects, including ended ones until they expire. They are in the order of
	// [messages.Query.Compare], at most [messages.Query.Most]. A block is visible once its append has ended.
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	// Watch calls fn, in the caller's goroutine, for runs whose log has grown and for commands, until ctx is done.
	// The first Note is empty: from then on nothing is missed. fn may be called more often than needed, or once for
	// several blocks; Read returns what is there. Blocks that the node named self has written may be left out.
	Watch(ctx context.Context, self string, fn func(Note)) error
}

// Journal keeps the events of runs, and lends each run to a node that may try to own it. The log alone decides which
// node owns it. Every method except Append may block within ctx.
type Journal interface {
	Reader
	// Append adds the block right after b.After, whole or not at all. It is durable before done(nil) is called.
	// Append does not block. done is called once, from any goroutine, even before Append returns. Its errors:
	//
	//   - ErrFenced: the log has another head.
	//   - ErrSealed: the log has its terminal.
	//   - ErrRefused: the block did not land, and will not unless it is appended again.
	//   - ErrUnstorable: the block did not land and never will, however often it is appended.
	//   - Any other error: the block may have landed, or may land later. Read tells by b.ID.
	//
	// A block that is appended again lands once, and done gets nil each time.
	Append(b Block, done func(error))
	// Claim waits for an unfinished run that no node holds, and lends it to the node. A run's first block offers the
	// run to its Writer. A run is lent again after [Released], and if its claim was not [Held] for four times
	// Claim.Every. If ctx is done, Claim returns what can be claimed at once.
	Claim(ctx context.Context, node string) (Claim, error)
	// Keep says what happens to a claim. A node calls it with Held only after it has read the log and found itself
	// the owner.
	Keep(ctx context.Context, c Claim, k ClaimState) error
	// Send passes a command to the node that holds the run, whose Watch receives it. A command may be lost, or arrive
	// twice.
	Send(ctx context.Context, c Command) error
	// Expire removes whole logs of ended runs: first those that ended before the given time, and then the oldest
	// until the rest fits the bytes. It returns how many logs of ended runs are left.
	Expire(ctx context.Context, before time.Time, bytes int64) (left int, err error)
	// DeleteLog removes the whole log of an ended run at once. Errors: not_found, conflict for a run that has not ended.
	DeleteLog(ctx context.Context, run messages.RunID) error
	// Salt returns 32 random bytes of the store. They make the id of a run with a key unguessable.
	Salt() [32]byte
}

// Head is the end of a run's log. Heads only grow.
type Head struct {
	// Seq is the number of the last event; 0 if there is no log.
	Seq uint64
	// Epoch is the greatest epoch of the log's blocks.
	Epoch uint64
	// At is private to the journal, for example a sequence number of its store.
	At uint64
	// Ended: the last event is a terminal.
	Ended bool
}

// BlockID identifies a block: 128 bits, unique.
type BlockID [16]byte

// String returns the id in hexadecimal.
func (id BlockID) String() string { return hex.EncodeToString(id[:]) }

// Block is the unit of one append. It never changes once it was sent.
type Block struct {
	Run messages.RunID
	// After is the head that the writer knows. If it is zero, this is the run's first block, which is also the work
	// item.
	After Head
	ID    BlockID
	// Writer is the node that wrote the block. Epoch is the epoch of its ownership, or 0 before there is an owner.
	Writer string
	Epoch  uint64
	Events []messages.Event
}

// Head returns the log's head after the block.
func (b Block) Head() Head {
	last := b.Events[len(b.Events)-1]
	return Head{Seq: last.Seq, Epoch: max(b.After.Epoch, b.Epoch), Ended: last.IsTerminal()}
}

// Page is the result of a Read.
type Page struct {
	Events []messages.Event
	// Blocks are the ids of the blocks whose events were read. For an ended run, only the last id may be left.
	Blocks []BlockID
	// Head is the end of the log at the time of the call. It may be beyond Events.
	Head Head
}

// Claim is a run that is lent to a node.
type Claim struct {
	Run messages.RunID
	// Every is how often the journal wants to hear that the claim is held.
	Every time.Duration
	// Token is private to the journal.
	Token any
}

// ClaimState says what happens to a claim.
type ClaimState uint8

// A claim is held, returned for another node, or over because the terminal was read.
const (
	Held ClaimState = iota
	Released
	Ended
)

// Command asks the owner of a run for something. A cancel, an answer or a message is done once the run's log shows its event.
type Command struct {
	Run messages.RunID
	// ID identifies the command, which may arrive more than once.
	ID     string
	Cancel *CancelCommand
	// Waiting: the cancel counts only while the run waits for its turn.
	Waiting bool
	Answer  *AnswerCommand
	// Say asks for a message.queued or, with Revoke, for its message.dropped.
	Say    *messages.Said
	Revoke bool
	// Release asks for a run.released.
	Release *ReleaseCommand
	// Move asks for this run.moved, if the run still waits after the run and at the place of From.
	Move, From *messages.RunMoved
	// Attach says that a caller elsewhere is still there.
	Attach bool
	// Refill asks a parent run for more budget. Its reply to the sub-run, Granted, has the same ID: all that the parent's log
	// grants.
	Refill  *RefillCommand
	Granted *messages.Budget
}

// CancelCommand asks for a run.canceling.
type CancelCommand struct{ By, Reason string }

// ReleaseCommand asks for a run.released.
type ReleaseCommand struct{ By string }

// RefillCommand asks for more of a unit of [messages.BudgetUnits]. The child has got Has so far.
type RefillCommand struct {
	Child messages.RunID
	Unit  int
	Has   float64
}

// AnswerCommand asks the run's owner to record an answer to a question: the event input.received.
type AnswerCommand struct {
	Request   string
	Value     []byte
	Principal string
}

// Note tells a Watch that a run's log has grown, or of a command.
type Note struct {
	Run     messages.RunID
	Command *Command
}

// Errors of Append. A messages.Error with the code journal_unavailable, also a wrapped one, says that the whole store is down,
// for example because its disk is full: then no run starts until it recovers. An ErrUnstorable with this code
// says that the store is damaged: then no run starts until the node is started anew.
var (
	ErrFenced     = errors.New("the run's log has another head")
	ErrSealed     = errors.New("the run's log has its terminal")
	ErrRefused    = errors.New("the journal did not take the block")
	ErrUnstorable = errors.New("the journal can never hold the block")
	ErrUnknown    = errors.New("the outcome of the append is not known")
)

// ErrNotFound says that the store has no log of the run.
func ErrNotFound(run messages.RunID) error {
	return messages.Errorf(messages.CodeNotFound, "there is no run %s", run)
}

// ErrNotEnded says that the log of the run cannot be forgotten yet.
func ErrNotEnded(run messages.RunID) error {
	return messages.Errorf(messages.CodeConflict, "run %s has not ended; cancel it first", run)
}
