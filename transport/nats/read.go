package nats

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// A server that has died answers no request. askTimeout is how long one attempt waits; patience is how long all
// attempts may take. An election takes 4 to 9 seconds.
const (
	askTimeout = 2 * time.Second
	patience   = 20 * time.Second
)

// The maximum that one read returns.
const (
	batchBlocks = 256
	batchBytes  = 1 << 20
)

// Read implements [journal.Reader].
func (j *Journal) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if j.index.end(run) == 0 { // nothing is heard for an id that is no run
		if _, err := j.last(ctx, run); err != nil {
			return journal.Page{}, err
		}
	}
	if err := j.hear(run); err != nil {
		return journal.Page{}, err
	}
	last, err := j.last(ctx, run)
	if err != nil {
		return journal.Page{}, err
	}
	page := journal.Page{Head: journal.Head{Seq: last.Last, Epoch: last.Epoch, At: last.at, Ended: last.ended()}}
	if after >= last.Last {
		return page, nil
	}
	blocks := []stored{last}
	if last.First > after+1 {
		if blocks, err = j.blocks(ctx, run, after, last.at); err != nil {
			return journal.Page{}, err
		}
	}
	for _, s := range blocks {
		b, err := j.kept(ctx, run, s)
		if err != nil {
			return journal.Page{}, err
		}
		events, err := b.Events()
		if err != nil {
			return journal.Page{}, errBroken(run, fmt.Sprintf("block %q: %v", s.ID, err))
		}
		page.Events = append(page.Events, events[journal.FirstAfter(events, after):]...)
		page.Blocks = append(page.Blocks, b.ID)
	}
	end := blocks[len(blocks)-1]
	j.index.remember(run, place{end.Last, end.at})
	return page, nil
}

// Blocks implements [journal.Reader]. Blocks from an older version, and those after them, have no digest.
func (j *Journal) Blocks(ctx context.Context, run messages.RunID) iter.Seq2[journal.StoredBlock, error] {
	return func(yield func(journal.StoredBlock, error) bool) {
		last, err := j.last(ctx, run)
		var chain []byte
		for seq := uint64(0); seq < last.Last && err == nil; {
			var found []stored
			if found, err = j.blocks(ctx, run, seq, last.at); err != nil {
				break
			}
			for _, s := range found {
				var b journal.StoredBlock
				if b, err = j.kept(ctx, run, s); err != nil {
					break
				}
				copy(b.Before[:], chain)
				if !yield(b, nil) {
					return
				}
				seq, chain = s.Last, s.Chain
			}
		}
		if err != nil {
			yield(journal.StoredBlock{}, err)
		}
	}
}

// kept returns the block in the form of the journal, with the parts of its data, but without the chain, which comes from
// the block before.
func (j *Journal) kept(ctx context.Context, run messages.RunID, s stored) (b journal.StoredBlock, err error) {
	name, _ := token(run)
	for n := range s.Parts {
		in := j.shard(run)
		part, err := j.get(ctx, getRequest{stream: in.name, LastFor: in.partOf(name, s.ID, n)})
		if codeOf(err) == jetstream.JSErrCodeMessageNotFound {
			return b, errBroken(run, fmt.Sprintf("part %d of block %s is missing", n, s.ID))
		}
		if err != nil {
			return b, err
		}
		s.data = append(s.data, part.Data...)
	}
	b = journal.StoredBlock{First: s.First, Last: s.Last, Writer: s.Writer, Epoch: s.Epoch, Terminal: s.ended()}
	n, err := hex.Decode(b.ID[:], []byte(s.ID))
	for from := json.NewDecoder(bytes.NewReader(s.data)); from.More() && err == nil; {
		var line json.RawMessage
		err = from.Decode(&line)
		b.Lines = append(b.Lines, line)
	}
	if err != nil || n != len(b.ID) {
		return b, errBroken(run, fmt.Sprintf("block %q: %v", s.ID, err))
	}
	copy(b.Digest[:], s.Digest)
	return b, nil
}

// blocks reads blocks, beginning with the one that has the event after the given number, up to the sequence upTo.
func (j *Journal) blocks(ctx context.Context, run messages.RunID, after, upTo uint64) ([]stored, error) {
	name, _ := token(run)
	in := j.shard(run)
	next := getRequest{stream: in.name, Seq: j.index.placeOf(run, after) + 1, NextFor: in.logOf(name)}
	for {
		found, err := j.batch(ctx, next)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || found[0].seq > upTo { // the replica lags, but the leader has the next block
			m, err := j.get(ctx, next)
			if err != nil {
				return nil, errGet(run, err)
			}
			found = []message{m}
		}
		var out []stored
		for _, m := range found {
			if next.Seq = m.seq + 1; m.seq > upTo {
				break
			}
			b, err := m.block(run)
			if err != nil {
				return nil, err
			}
			if b.Last > after {
				out = append(out, b)
			}
		}
		switch {
		case len(out) > 0 && out[0].First > after+1: // the stream has removed it because of its age
			return nil, journal.ErrNotFound(run)
		case len(out) > 0:
			return out, nil
		}
	}
}

// last returns the last block of the run's log from the stream's leader. A deposed leader keeps answering for a while.
// So if the block is older than one that this node has heard of, last asks again; a follower of the run might not be
// notified a second time.
func (j *Journal) last(ctx context.Context, run messages.RunID) (stored, error) {
	name, ok := token(run)
	if !ok {
		return stored{}, journal.ErrNotFound(run)
	}
	known, in := j.index.end(run), j.shard(run)
	for began := time.Now(); ; {
		m, err := j.get(ctx, getRequest{stream: in.name, LastFor: in.logOf(name)})
		if err != nil {
			return stored{}, errGet(run, err)
		}
		if m.seq >= known || time.Since(began) > askTimeout {
			return m.block(run)
		}
		if pause(ctx, askTimeout/100); ctx.Err() != nil {
			return stored{}, explained(ctx.Err())
		}
	}
}

func errGet(run messages.RunID, err error) error {
	if codeOf(err) == jetstream.JSErrCodeMessageNotFound {
		return journal.ErrNotFound(run)
	}
	return explained(err)
}

// message is a message in the stream.
type message struct {
	*nats.Msg
	seq uint64
}

// block decodes a message of the stream.
func (m message) block(run messages.RunID) (stored, error) {
	mark, err := markOf(m.Header)
	var data []byte
	if err == nil {
		data, err = mark.whole(m.Data)
	}
	if err != nil {
		return stored{}, errBroken(run, fmt.Sprintf("message %d: %v", m.seq, err))
	}
	return stored{mark, m.seq, data}, nil
}

// getRequest is JetStream's request for stored messages.
type getRequest struct {
	stream  string // its name
	Seq     uint64 `json:"seq,omitempty"`
	LastFor string `json:"last_by_subj,omitempty"`
	NextFor string `json:"next_by_subj,omitempty"`
	// LastOf asks a batch for the last message of each subject.
	LastOf   []string `json:"multi_last,omitempty"`
	Batch    int      `json:"batch,omitempty"`
	MaxBytes int      `json:"max_bytes,omitempty"`
}

// retry repeats a request until it is answered, or fails with a code other than those in passing.
func retry(ctx context.Context, ask func(context.Context) error, passing ...jetstream.ErrorCode) error {
	for began := time.Now(); ; {
		once, cancel := context.WithTimeout(ctx, askTimeout)
		err := ask(once)
		cancel()
		silent := errors.Is(err, context.DeadlineExceeded)
		absent := errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrReconnectBufExceeded) ||
			codeOf(err) == errNoLeader || codeOf(err) == errNoPeers || slices.Contains(passing, codeOf(err))
		if !silent && !absent || ctx.Err() != nil || time.Since(began) > patience {
			return err
		}
		if absent {
			pause(ctx, askTimeout/10)
		}
	}
}

// pause returns after d or when ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// get requests one message from the stream's leader. The client library would ask any replica.
func (j *Journal) get(ctx context.Context, ask getRequest) (m message, err error) {
	data, err := json.Marshal(ask)
	if err != nil {
		return m, err
	}
	err = retry(ctx, func(ctx context.Context) error {
		answer, err := j.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+ask.stream, data)
		if err == nil {
			m, err = decodeMessage(answer.Data)
		}
		return err
	})
	return m, err
}

// decodeMessage decodes the response to a get.
func decodeMessage(answer []byte) (m message, err error) {
	var got struct {
		Error   *jetstream.APIError
		Message struct {
			Subject string
			Seq     uint64
			Hdrs    []byte
			Data    []byte
		}
	}
	switch err = json.Unmarshal(answer, &got); {
	case err != nil:
		return m, err
	case got.Error != nil:
		return m, got.Error
	}
	m = message{&nats.Msg{Subject: got.Message.Subject, Data: got.Message.Data}, got.Message.Seq}
	if len(got.Message.Hdrs) > 0 {
		m.Header, err = nats.DecodeHeadersMsg(got.Message.Hdrs)
	}
	return m, err
}

// batch requests the next messages from any replica, which may lag behind the leader.
func (j *Journal) batch(ctx context.Context, ask getRequest) (found []message, err error) {
	ask.Batch, ask.MaxBytes = batchBlocks, batchBytes
	data, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	err = retry(ctx, func(ctx context.Context) (err error) {
		found, err = j.answers(ctx, "$JS.API.DIRECT.GET."+ask.stream, data)
		return err
	})
	return found, err
}

// answers sends a request whose response consists of several messages.
func (j *Journal) answers(ctx context.Context, subject string, question []byte) (found []message, err error) {
	sub, err := j.nc.SubscribeSync(j.nc.NewInbox())
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err = j.nc.PublishRequest(subject, sub.Subject, question); err != nil {
		return nil, err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		switch status := m.Header.Get("Status"); status {
		case "":
			seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
			if err != nil {
				return nil, err
			}
			m.Subject = m.Header.Get("Nats-Subject")
			found = append(found, message{m, seq})
		case "204", "404": // end of the batch; no messages
			return found, nil
		default:
			return nil, messages.Errorf(messages.CodeUnavailable, "JetStream does not read %s: status %s %s",
				subject, status, m.Header.Get("Description"))
		}
	}
}
