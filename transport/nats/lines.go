package nats

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// lineStream holds the logs of lines. Nothing in it expires.
const lineStream = "LINES"

// lineHeader marks the parts of a line that is too large for one message. The last part has the line's end.
const lineHeader = "Lastword-Line"

// Lines returns functions for a log of lines that the nodes share beside runs. Its name is a folder and a name, with a
// slash between them. All nodes see the lines in the same order. read returns the lines from the offset in bytes on, with what
// every add before has written; the offset is the end of a line, and never less than before. add writes a line with its end.
// A pair of functions has one user at a time.
func (j *Journal) Lines(log string) (read func(after int64) ([]byte, error), add func(line []byte) error) {
	l := &lineLog{Journal: j, subject: lineSubject(log), parts: map[string][]byte{}}
	return l.read, l.add
}

// LineLogs returns the names of the logs in a folder that have lines.
func (j *Journal) LineLogs(ctx context.Context, folder string) (names []string, err error) {
	stream, err := j.openLines(ctx)
	if err != nil {
		return nil, explained(err)
	}
	head := lineSubject(folder) + "."
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(head+"*"))
	if err != nil {
		return nil, explained(err)
	}
	for subject := range info.State.Subjects {
		names = append(names, strings.ReplaceAll(strings.TrimPrefix(subject, head), "~", "."))
	}
	slices.Sort(names)
	return names, nil
}

// lineSubject returns the subject of a log's lines. A dot would begin another token.
func lineSubject(log string) string {
	return "line." + strings.NewReplacer(".", "~", "/", ".").Replace(log)
}

// openLines creates the stream unless it exists.
func (j *Journal) openLines(ctx context.Context) (stream jetstream.Stream, err error) {
	err = retry(ctx, func(ctx context.Context) error {
		if stream, err = j.js.Stream(ctx, lineStream); errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = j.js.CreateStream(ctx, jetstream.StreamConfig{Name: lineStream,
				Description: "the conversations of lastword: it must not expire", Subjects: []string{"line.>"},
				Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, AllowDirect: true,
				Replicas: j.shards[0].stream.CachedInfo().Config.Replicas})
		}
		return err
	}, jetstream.JSErrCodeStreamNotFound, jetstream.JSErrCodeStreamNameInUse)
	return stream, err
}

// lineLog is a log of lines, and what was read of it.
type lineLog struct {
	*Journal
	subject string
	open    bool
	seq     uint64            // of the last message that was read
	from    int64             // the offset of data
	data    []byte            // the lines that may be asked for
	parts   map[string][]byte // of lines that have no end yet
}

func (l *lineLog) read(after int64) ([]byte, error) {
	err := l.catchUp()
	l.data, l.from = l.data[after-l.from:], after
	return slices.Clone(l.data), explained(err)
}

// catchUp reads what the stream's leader has: a replica may lag.
func (l *lineLog) catchUp() error {
	if !l.open {
		if _, err := l.openLines(l.ctx); err != nil {
			return err
		}
		l.open = true
	}
	last, err := l.get(l.ctx, getRequest{stream: lineStream, LastFor: l.subject})
	if codeOf(err) == jetstream.JSErrCodeMessageNotFound {
		return nil
	}
	for err == nil && l.seq < last.seq {
		next := getRequest{stream: lineStream, Seq: l.seq + 1, NextFor: l.subject}
		var found []message
		if found, err = l.batch(l.ctx, next); err == nil && len(found) == 0 {
			found = make([]message, 1)
			found[0], err = l.get(l.ctx, next)
		}
		for _, m := range found {
			l.take(m)
		}
	}
	return err
}

func (l *lineLog) take(m message) {
	if m.Msg == nil {
		return
	}
	line := m.Header.Get(lineHeader)
	l.seq, l.parts[line] = m.seq, append(l.parts[line], m.Data...)
	if strings.HasSuffix(string(m.Data), "\n") {
		l.data = append(l.data, l.parts[line]...)
		delete(l.parts, line)
	}
}

// add sends parts that the server takes for one message each, and once: an answer that is lost is asked for again.
func (l *lineLog) add(line []byte) error {
	id, room, n := rand.Text(), int(l.nc.MaxPayload())-1<<10, 0
	for part := range slices.Chunk(line, room) {
		m := &nats.Msg{Subject: l.subject, Data: part, Header: nats.Header{}}
		if len(line) > room {
			m.Header.Set(lineHeader, id)
		}
		n++
		if err := retry(l.ctx, func(ctx context.Context) error {
			_, err := l.send(ctx, m, jetstream.WithMsgID(id+"-"+strconv.Itoa(n)))
			return err
		}); err != nil {
			return explained(err)
		}
	}
	return nil
}
