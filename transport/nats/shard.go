package nats

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/messages"
)

// Streams sets over how many streams the logs are spread; the default is 1. The number stands in the metadata of the
// first stream from its creation, and never changes: Open fails if it finds another. A run and all that it started lie in
// one stream, so whatever decides between nodes is decided by one stream's leader.
func Streams(n int) Option { return func(o *options) { o.streams = n } }

// streamsKey is the key in the metadata for the number of streams. It is missing for one.
const streamsKey = "lastword-streams"

// mostStreams bounds their number. A node keeps a few requests open for each.
const mostStreams = 64

// shard is one of the streams over which the logs are spread.
type shard struct {
	stream    jetstream.Stream
	name      string // of the stream
	run, part string // the first tokens of its subjects
	claims    jetstream.Consumer
	pulling   bool // whether a goroutine pulls work items; guarded by claims.mu of the journal
}

// newShard returns the shard with the number n. The first has the names of all versions.
func newShard(n int) *shard {
	if n == 0 {
		return &shard{name: streamName, run: "run", part: "part"}
	}
	in := "shard." + strconv.Itoa(n)
	return &shard{name: fmt.Sprint(streamName, "-", n), run: in + ".run", part: in + ".part"}
}

// shardOf returns the number of the shard of the run's tree, by a hash of the root's id.
func (j *Journal) shardOf(run messages.RunID) int {
	if len(j.shards) == 1 {
		return 0
	}
	root, _, _ := strings.Cut(string(run), ".")
	h := fnv.New32a()
	_, _ = h.Write([]byte(root)) // it never fails
	return int(h.Sum32() % uint32(len(j.shards)))
}

// shard returns the shard of the run's tree.
func (j *Journal) shard(run messages.RunID) *shard { return j.shards[j.shardOf(run)] }

// logOf returns the subject filter of a run's whole log.
func (s *shard) logOf(token string) string { return s.run + "." + token + ".>" }

// partOf returns the subject of a part.
func (s *shard) partOf(name, block string, n int) string {
	return s.part + "." + name + "." + block + "." + strconv.Itoa(n)
}

// openShards opens the streams, and creates those that are missing if create is set. The first says how many there are.
func (j *Journal) openShards(ctx context.Context, o options, create bool) error {
	if o.streams < 0 || o.streams > mostStreams {
		return messages.Errorf(messages.CauseInvalidInput, "%d streams: give 1 to %d", o.streams, mostStreams)
	}
	// Another node may create a stream at this moment, and servers that have not heard of it say that it does not exist.
	var passing []jetstream.ErrorCode
	if create {
		passing = append(passing, jetstream.JSErrCodeStreamNotFound)
	}
	open := func(s *shard) error {
		return retry(ctx, func(ctx context.Context) error { return j.openStream(ctx, s, o, create) }, passing...)
	}
	first := newShard(0)
	if err := open(first); err != nil {
		return err
	}
	j.shards = []*shard{first}
	if err := j.readSalt(); err != nil {
		return err
	}
	n := 1
	if text, ok := first.stream.CachedInfo().Config.Metadata[streamsKey]; ok {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 || n > mostStreams {
			return messages.Errorf(messages.CodeUnavailable, "stream %s says %q streams: this version takes 1 to %d", streamName, text, mostStreams)
		}
	}
	if o.streams > 0 && o.streams != n {
		return messages.Errorf(messages.CauseInvalidInput,
			"the runs are in %d streams, not in %d: the number cannot change; leave it out, or use another NATS account", n, o.streams)
	}
	for i := 1; i < n; i++ {
		s := newShard(i)
		if err := open(s); err != nil {
			return err
		}
		j.shards = append(j.shards, s)
	}
	return nil
}

// openStream opens or creates the stream, and updates its configuration.
func (j *Journal) openStream(ctx context.Context, s *shard, o options, create bool) (err error) {
	s.stream, err = j.js.Stream(ctx, s.name)
	if !create {
		return err
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s.stream, err = j.makeStream(ctx, s, o)
	}
	if err != nil {
		return err
	}
	have := s.stream.CachedInfo().Config
	want := have
	want.MaxAge = max(have.MaxAge, longestLife+o.retention)
	want.Replicas = max(have.Replicas, o.replicas)
	if have.MaxAge == 0 {
		want.MaxAge = 0
	}
	if want.MaxAge != have.MaxAge || want.Replicas != have.Replicas {
		s.stream, err = j.js.UpdateStream(ctx, want)
	}
	return err
}
