package supervision

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

const (
	// throughput is how many messages an actor handles before it yields; the library uses the same number.
	throughput = 300
	// keepSlots is the size of the largest queue that an idle inbox keeps.
	keepSlots = 16
)

// inbox is an actor's mailbox. It keeps the library's order: system messages first, and only those while suspended.
// At rest it needs a third of the library's memory, and it frees the memory of a flood. It does not unpack batches.
//
// mu guards the fields below it. At most one turn runs at a time, and only that turn calls the invoker.
type inbox struct {
	dispatcher *dispatcher
	invoker    actor.MessageInvoker

	mu           sync.Mutex
	system, user queue
	running      bool // a turn is running or scheduled
	suspended    bool
}

// RegisterHandlers implements [actor.Mailbox]. The library calls it before the first message.
func (b *inbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	b.invoker = invoker
}

func (b *inbox) Start() {}

func (b *inbox) PostUserMessage(message any) {
	if b.post(&b.user, message) {
		b.dispatcher.schedule(b)
	}
}

func (b *inbox) PostSystemMessage(message any) {
	if b.post(&b.system, message) {
		b.dispatcher.schedule(b)
	}
}

func (b *inbox) UserMessageCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.user.len()
}

// post queues the message; nil is none. It reports whether the inbox was idle: then the caller schedules its turn, off post's
// stack (see [Routine.Send]).
func (b *inbox) post(q *queue, message any) (idle bool) {
	if message == nil { // next's nil ends a turn
		return false
	}
	b.mu.Lock()
	q.push(message)
	idle, b.running = !b.running, true
	b.mu.Unlock()
	return idle
}

// turn handles messages until there are none. It is called again after a Goexit.
func (b *inbox) turn() {
	for b.handle() {
		runtime.Gosched()
	}
}

func (b *inbox) resumes() bool { return true }

// handle handles messages until it should yield, or until one panics. It reports whether there may be more.
func (b *inbox) handle() (more bool) {
	var message any
	defer func() {
		if r := recover(); r != nil {
			b.invoker.EscalateFailure(r, message)
			more = true
		}
	}()
	for range throughput {
		var system bool
		message, system = b.next()
		switch {
		case message == nil:
			return false
		case system:
			b.invoker.InvokeSystemMessage(message)
		default:
			b.invoker.InvokeUserMessage(message)
		}
	}
	return true
}

// next returns the next message, or nil to end the turn.
func (b *inbox) next() (message any, system bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.system.len() > 0 {
		switch message := b.system.pop().(type) {
		case *actor.SuspendMailbox:
			b.suspended = true
		case *actor.ResumeMailbox:
			b.suspended = false
		default:
			return message, true
		}
	}
	if !b.suspended && b.user.len() > 0 {
		return b.user.pop(), false
	}
	b.running = false
	return nil, false
}

// queue is a first-in-first-out queue that shrinks.
type queue struct {
	slots []any
	head  int
}

func (q *queue) len() int { return len(q.slots) - q.head }

// push adds a value. A full queue moves its rest to the front instead of growing, if more than half was read.
func (q *queue) push(v any) {
	if len(q.slots) == cap(q.slots) && q.head > len(q.slots)/2 {
		n := copy(q.slots, q.slots[q.head:])
		clear(q.slots[n:])
		q.slots, q.head = q.slots[:n], 0
	}
	q.slots = append(q.slots, v)
}

// pop removes the oldest value, and frees a large empty queue.
func (q *queue) pop() any {
	v := q.slots[q.head]
	q.slots[q.head] = nil
	q.head++
	switch {
	case q.head < len(q.slots):
	case cap(q.slots) > keepSlots:
		*q = queue{}
	default:
		q.slots, q.head = q.slots[:0], 0
	}
	return v
}
