package actors

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Reader is what anybody may do with a journal, also beside the nodes that write to it. Implementations are safe for
// concurrent use.
type Reader interface {
	// Read returns events of the run whose Seq is past after, in order, at most a batch, none at the head. It has read
	// every block that had landed when it was called, up to the batch. An unknown run is a not_found error.
	Read(ctx context.Context, run messages.RunID, after uint64) (Page, error)
	// List returns the runs that the query selects, ended ones among them until they expire, in the order of
	// [messages.Query.Compare] and no more than [messages.Query.Most]. A block is in it once its append has ended.
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	// Watch calls fn, in the caller's goroutine, with the runs whose log has grown and with commands, until ctx is done:
	// first with an empty Note, when what lands next will be told. It may call too often, and once for several blocks:
	// Read says what is there. What the node named self has written itself it may leave out.
	Watch(ctx context.Context, self string, fn func(Note)) error
}

// Journal keeps the events of runs, and says which node may try to own a run: the log alone says who does. Everything
// but Append may block within ctx.
type Journal interface {
	Reader
	// Append keeps the block right after b.After, whole or not at all, durable before done(nil). It does not block; done
	// is called once, from any goroutine, even before Append returns. ErrFenced: the head is another. ErrSealed: the head
	// is a terminal. ErrRefused: the block did not land and never will unless it is appended again. Any other error: it
	// may have landed, and may land later; Read tells by b.ID. The same block may be appended again: it lands once, and
	// done gets nil each time.
	Append(b Block, done func(error))
	// Claim waits for an unfinished run that no node holds, and lends it to the node. A run's first block offers the run
	// to its Writer. A run is lent again after [Released], and when its claim was not [Held] for four times its Every. A
	// Claim whose ctx is done returns what can be claimed at once.
	Claim(ctx context.Context, node string) (Claim, error)
	// Keep says what becomes of a claim. Before it says Held a node has read the log and found itself the owner; a node
	// that found another says nothing.
	Keep(ctx context.Context, c Claim, k Keeping) error
	// Send passes a command on to the node that holds the run, whose Watch gets it. It may be lost, or come twice.
	Send(ctx context.Context, c Command) error
	// Expire forgets whole logs of ended runs: those that ended before the time, and then the oldest until the rest is
	// within the bytes. It returns how many logs of ended runs are left.
	Expire(ctx context.Context, before time.Time, bytes int64) (left int, err error)
	// Salt returns 32 random bytes that were made with the store: they keep the ids of runs with a key from being guessed.
	Salt() [32]byte
}

// Head is the end of a run's log. Heads only grow.
type Head struct {
	// Seq is the number of the last event; 0 is a log that does not exist.
	Seq uint64
	// Epoch is the greatest of the log's blocks.
	Epoch uint64
	// At is the journal's own: a stream sequence, or nothing.
	At uint64
	// Ended says that the last event is a terminal.
	Ended bool
}

// BlockID is a block's own name: 128 bits that no other block has.
type BlockID [16]byte

// String returns the id in hexadecimal.
func (id BlockID) String() string { return hex.EncodeToString(id[:]) }

// Block is what is appended at once. Nothing of it changes once it was sent.
type Block struct {
	Run messages.RunID
	// After is the head that the writer knows. The zero Head makes it the run's first block, which is also the work item.
	After Head
	ID    BlockID
	// Writer is the node that wrote the block, and Epoch that of its ownership; 0 before there is an owner.
	Writer string
	Epoch  uint64
	Events []messages.Event
}

// Head returns the head that the log has once the block has landed.
func (b Block) Head() Head {
	last := b.Events[len(b.Events)-1]
	return Head{Seq: last.Seq, Epoch: max(b.After.Epoch, b.Epoch), Ended: last.IsTerminal()}
}

// Page is what a Read found.
type Page struct {
	Events []messages.Event
	// Blocks are the ids of the blocks whose events were read. The journal may forget those before the last of an ended
	// run.
	Blocks []BlockID
	// Head is the log's end at the time of the call, beyond Events where they are a batch.
	Head Head
}

// Claim is a run that was lent to a node.
type Claim struct {
	Run messages.RunID
	// Every is how often the journal wants to be told that the claim is held.
	Every time.Duration
	// Token is the journal's own.
	Token any
}

// Keeping is what becomes of a claim.
type Keeping uint8

// A claim is held, given back to be lent to the next, or over because the terminal was read.
const (
	Held Keeping = iota
	Released
	Ended
)

// Command asks the owner of a run for something. It is done when its event is in the run's log.
type Command struct {
	Run messages.RunID
	// ID is the command's own; the same command may come more than once.
	ID     string
	Cancel *CancelCommand
	Answer *AnswerCommand
}

// CancelCommand asks for a run.canceling.
type CancelCommand struct{ By, Reason string }

// AnswerCommand asks for an input.received.
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

// Errors that a Journal's Append may end with.
var (
	ErrFenced  = errors.New("the run's log has another head")
	ErrSealed  = errors.New("the run's log has its terminal")
	ErrRefused = errors.New("the journal did not take the block")
	ErrUnknown = errors.New("the outcome of the append is not known")
)
