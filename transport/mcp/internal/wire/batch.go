package wire

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
)

// batchVersion is the only protocol version with batches (arrays of messages).
const batchVersion = "2025-03-26"

// batched is one request of a batch. fail says what is wrong with the request; nil if nothing is.
type batched struct {
	message
	fail *Error
}

// read parses a message, or a batch if the client's version has batches. The session may be nil.
func (s *Session) read(text []byte) (m message, fail *Error) {
	if s == nil || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) || s.client().version != batchVersion {
		return parse(text)
	}
	all, _, fail := jsonrpc.Split(text)
	if fail != nil {
		return m, fail
	}
	for _, text := range all {
		one, fail := parse(text)
		if fail == nil && (one.method == methodInitialize || one.modern()) {
			fail = errorf(mcp.INVALID_REQUEST, "%s cannot be part of a batch: send it alone", one.method)
		}
		if fail == nil && !one.wantsAnswer() {
			m.others = append(m.others, one)
			continue
		}
		m.batch = append(m.batch, batched{one, fail})
	}
	return m, nil
}

// runBatch runs all requests of a batch concurrently, and returns their answers in the order of the requests.
func (x *Exchange) runBatch() outcome {
	answers := make([][]byte, len(x.msg.batch))
	var running sync.WaitGroup
	for i, request := range x.msg.batch {
		each := x.server.newExchange(x.ctx, request.message, x.session, x.table)
		out := &batchStream{x: x, each: each, answered: &answers[i]}
		each.out = out
		if request.fail == nil {
			request.fail = x.table.add(each, x.server.config.Requests)
		}
		if request.fail != nil {
			message, _ := encodeAnswer(request.id, outcome{fail: request.fail}) // an error can always be encoded
			out.answer(message, request.fail)
			continue
		}
		running.Go(func() {
			defer context.AfterFunc(x.ctx, func() { each.stop(context.Cause(x.ctx)) })()
			each.run()
		})
	}
	running.Wait()
	answers = slices.DeleteFunc(answers, func(a []byte) bool { return a == nil })
	if len(answers) == 0 { // the client has cancelled them all
		x.noAnswer.Store(true)
	}
	return outcome{batch: answers}
}

// batchStream is the stream of one request of a batch. Notifications go to the stream of the batch; the answer is kept
// for the array of answers.
type batchStream struct {
	x, each  *Exchange // the exchange of the batch, and of the request
	answered *[]byte
}

func (b *batchStream) send(id string, message []byte) error { return b.x.write(id, message) }

func (b *batchStream) answer(message []byte, _ *Error) {
	*b.answered = message
	b.x.held.Add(b.each.held.Swap(0))
}

func (b *batchStream) takesEvents() bool { return b.x.out.takesEvents() }
