package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// appendTimeout is how long an append waits for JetStream. After that, nobody knows whether the block was stored.
const appendTimeout = 5 * time.Second

// largestHeader is the maximum size of a mark in bytes. The server allows 64 kB of headers, adds some itself, and one
// header holds the run's id.
const largestHeader = 40 << 10

// Append implements [journal.Journal].
func (j *Journal) Append(b journal.Block, done func(error)) {
	go func() {
		ctx, cancel := context.WithTimeout(j.ctx, appendTimeout)
		defer cancel()
		done(j.append(ctx, b))
	}()
}

// append publishes the block on the condition that the log ends where the block begins. If another node wrote
// meanwhile, it reads the end of the log again. Its error says whether the block may have been stored.
func (j *Journal) append(ctx context.Context, b journal.Block) error {
	name, ok := token(b.Run)
	kept, err := b.Stored()
	data := append(bytes.Join(kept.Lines, []byte("\n")), '\n')
	switch {
	case !ok:
		return fmt.Errorf("%w: %.200q cannot be the id of a run", journal.ErrUnstorable, b.Run)
	case err != nil:
		return fmt.Errorf("%w: %w", journal.ErrUnstorable, err)
	}
	before, known := j.index.before(b)
	for {
		if !known {
			var landed bool
			if before, landed, err = j.judge(ctx, b); landed || err != nil {
				return err
			}
		}
		s := &stored{mark: newMark(b, before.mark, kept, len(data)), data: data}
		switch s.at, err = j.publish(ctx, name, b, s, before); {
		case err == nil:
			j.record(b.Run, s.at, s.mark)
			if s.ended() {
				j.noteEnd(b.Run, *s)
			}
			return nil
		case codeOf(err) == jetstream.JSErrCodeStreamWrongLastSequence:
			known = false
		case errors.Is(err, errTooLarge), errors.Is(err, nats.ErrMaxPayload), codeOf(err) == errHeaderExceeds,
			codeOf(err) == jetstream.JSErrCodeStreamMessageExceedsMaximum:
			return fmt.Errorf("%w: %w", journal.ErrUnstorable, err)
		case codeOf(err) != 0, errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrReconnectBufExceeded):
			return fmt.Errorf("%w: %w", journal.ErrRefused, explained(err)) // the stream refused it, or no server received it
		default:
			return fmt.Errorf("%w: %w", journal.ErrUnknown, explained(err))
		}
	}
}

// judge reads the end of the log. It returns the head if the block may follow it. landed says that the log already
// holds the block. An error says why the block can never be stored.
func (j *Journal) judge(ctx context.Context, b journal.Block) (head stored, landed bool, err error) {
	head, err = j.last(ctx, b.Run)
	unknown := messages.CodeOf(err) == messages.CodeNotFound
	switch {
	case unknown && b.After.Seq == 0:
		return stored{}, false, nil
	case unknown:
		return head, false, journal.ErrFenced
	case err != nil:
		return head, false, fmt.Errorf("%w: %w", journal.ErrUnknown, err)
	case head.Last == b.After.Seq && !head.ended() && b.Events[0].From == head.Last+1:
		return head, false, nil
	case head.Last > b.After.Seq:
		page, err := j.Read(ctx, b.Run, b.After.Seq)
		if err != nil {
			return head, false, fmt.Errorf("%w: %w", journal.ErrUnknown, err)
		}
		if slices.Contains(page.Blocks, b.ID) {
			return head, true, nil
		}
	}
	if head.ended() {
		return head, false, journal.ErrSealed
	}
	return head, false, journal.ErrFenced
}

// errTooLarge means that NATS cannot store the block in whatever way.
var errTooLarge = errors.New("the labels or open requests of the run are larger than a message of NATS may be")

// publish sends the block and returns its sequence. The block is stored if the log still ends with the block before. An
// error without a code of JetStream leaves that unknown.
func (j *Journal) publish(ctx context.Context, name string, b journal.Block, s *stored, before stored) (uint64, error) {
	in, room := j.shard(b.Run), int(j.nc.MaxPayload())-1<<10-len(b.Run) // leave space for other headers
	head, data, err := s.header()
	if err == nil && len(head)+len(data)+len(s.data) > room {
		if err = j.publishParts(ctx, in, name, s, room); err == nil {
			head, data, err = s.header()
		}
	} else {
		data = append(data, s.data...)
	}
	if err != nil {
		return 0, err
	}
	if len(head)+len(data) > room {
		return 0, errTooLarge
	}
	m := &nats.Msg{Subject: in.run + "." + name + "." + s.kind(before.mark), Header: named(nats.Header{blockHeader: {string(head)}}, name, b.Run), Data: data}
	ack, err := j.send(ctx, m, jetstream.WithExpectLastSequenceForSubject(before.at, in.logOf(name)))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// publishParts sends the block's events as separate messages. It skips parts that exist already.
func (j *Journal) publishParts(ctx context.Context, in *shard, name string, s *stored, room int) error {
	s.Parts, s.Parted = (len(s.data)+room-1)/room, true
	for n := range s.Parts {
		part := &nats.Msg{Subject: in.partOf(name, s.ID, n), Data: s.data[n*room : min((n+1)*room, len(s.data))]}
		_, err := j.send(ctx, part, jetstream.WithExpectLastSequencePerSubject(0))
		if err != nil && codeOf(err) != jetstream.JSErrCodeStreamWrongLastSequence {
			return err
		}
	}
	return nil
}

// errInFlight is JetStream's error while another message of the same subject is in flight. Even a single writer gets
// it.
const errInFlight = jetstream.JSErrCodeStreamWrongLastSequenceConstant

// errTwin is the error while a message of the same id is in flight.
const errTwin jetstream.ErrorCode = 10158

// send publishes a message. It repeats that while another message of the subject, or with its id, is in flight.
func (j *Journal) send(ctx context.Context, m *nats.Msg, expect jetstream.PublishOpt) (*jetstream.PubAck, error) {
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 20*time.Millisecond) {
		ack, err := j.js.PublishMsg(ctx, m, expect)
		if err == nil {
			return ack, nil
		}
		if code := codeOf(err); code != errInFlight && code != errTwin {
			return nil, err
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}
