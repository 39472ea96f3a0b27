package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// appendTimeout is how long an append waits for JetStream. Its fate is unknown then.
const appendTimeout = 5 * time.Second

// largestHeader is the most of a mark: the server takes 64 kB of headers, of which it adds some, and the run's id is one.
const largestHeader = 40 << 10

// Append implements [journal.Journal].
func (j *Journal) Append(b journal.Block, done func(error)) {
	go func() {
		ctx, cancel := context.WithTimeout(j.ctx, appendTimeout)
		defer cancel()
		done(j.append(ctx, b))
	}()
}

func (j *Journal) append(ctx context.Context, b journal.Block) error {
	name, ok := token(b.Run)
	lines, err := encode(b.Events)
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
		s := &stored{mark: newMark(b, before.mark, lines), data: join(lines)}
		switch s.at, err = j.publish(ctx, name, b, s, before.at); {
		case err == nil:
			j.saw(b.Run, s.at, s.mark)
			return nil
		case codeOf(err) == jetstream.JSErrCodeStreamWrongLastSequence:
			known = false
		case errors.Is(err, errTooLarge), errors.Is(err, nats.ErrMaxPayload), codeOf(err) == errHeaderExceeds,
			codeOf(err) == jetstream.JSErrCodeStreamMessageExceedsMaximum:
			return fmt.Errorf("%w: %w", journal.ErrUnstorable, err)
		case codeOf(err) != 0, errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrReconnectBufExceeded):
			return fmt.Errorf("%w: %w", journal.ErrRefused, explained(err)) // the stream, or not even a server, has it
		default:
			return fmt.Errorf("%w: %w", journal.ErrUnknown, explained(err))
		}
	}
}

// judge reads where the log ends. It returns the head if the block may follow it, or says that the block is in the log,
// or why it never will be.
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

var errTooLarge = errors.New("the labels or open requests of the run are larger than a message of NATS may be")

// publish sends the block, which lands if the log still ends at the sequence, and returns its own. An error without a
// code of JetStream leaves its fate unknown.
func (j *Journal) publish(ctx context.Context, name string, b journal.Block, s *stored, after uint64) (uint64, error) {
	room := int(j.nc.MaxPayload()) - 1<<10 - len(b.Run) // for the other headers
	head, data, err := s.header()
	if err == nil && len(head)+len(data)+len(s.data) > room {
		if err = j.publishParts(ctx, name, s, room); err == nil {
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
	m := &nats.Msg{Subject: "run." + name + ".e", Header: named(nats.Header{blockHeader: {string(head)}}, name, b.Run), Data: data}
	if b.After.Seq == 0 {
		m.Subject = "run." + name + ".q"
	}
	return j.send(ctx, m, jetstream.WithExpectLastSequenceForSubject(after, logOf(name)))
}

// publishParts sends the block's events by themselves. Parts that are there already are left.
func (j *Journal) publishParts(ctx context.Context, name string, s *stored, room int) error {
	s.Parts, s.Parted = (len(s.data)+room-1)/room, true
	for n := range s.Parts {
		part := &nats.Msg{Subject: partOf(name, s.ID, n), Data: s.data[n*room : min((n+1)*room, len(s.data))]}
		_, err := j.send(ctx, part, jetstream.WithExpectLastSequencePerSubject(0))
		if err != nil && codeOf(err) != jetstream.JSErrCodeStreamWrongLastSequence {
			return err
		}
	}
	return nil
}

func partOf(name, block string, n int) string {
	return "part." + name + "." + block + "." + strconv.Itoa(n)
}

// errInFlight says that another message of the same subject is under way. A lone writer gets it, too.
const errInFlight jetstream.ErrorCode = 10164

// send publishes the message, again while another is under way.
func (j *Journal) send(ctx context.Context, m *nats.Msg, expect jetstream.PublishOpt) (uint64, error) {
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 20*time.Millisecond) {
		ack, err := j.js.PublishMsg(ctx, m, expect)
		if err == nil {
			return ack.Sequence, nil
		}
		if codeOf(err) != errInFlight {
			return 0, err
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
}
