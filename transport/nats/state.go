package nats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/messages"
)

// stateBucket is the key-value bucket of what the nodes share beside runs. Nothing in it expires.
const stateBucket = "STATE"

// sessionBucket is the key-value bucket of what changes of sessions.
const sessionBucket = "SESSIONS"

// Get returns a small value that the nodes share, and its revision: nil and 0 if there is none.
func (j *Journal) Get(ctx context.Context, name string) (value []byte, revision uint64, err error) {
	return j.value(ctx, stateBucket, name)
}

// GetSession is Get for a value about a session.
func (j *Journal) GetSession(ctx context.Context, name string) (value []byte, revision uint64, err error) {
	return j.value(ctx, sessionBucket, name)
}

func (j *Journal) value(ctx context.Context, of, name string) (value []byte, revision uint64, err error) {
	err = retry(ctx, func(ctx context.Context) error {
		bucket, err := j.js.KeyValue(ctx, of)
		if err != nil {
			return err
		}
		entry, err := bucket.Get(ctx, name)
		if err == nil {
			value, revision = entry.Value(), entry.Revision()
		}
		return err
	})
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	return value, revision, explained(err)
}

// Set stores the value if its revision is still the one that Get returned. Errors: conflict if another node was faster, or
// if this write was tried again after an answer was lost.
func (j *Journal) Set(ctx context.Context, name string, value []byte, revision uint64) error {
	return j.set(ctx, jetstream.KeyValueConfig{Bucket: stateBucket,
		Description: "what the nodes of lastword share beside runs; it must not expire"}, name, value, revision)
}

// SetSession is Set for a value about a session. All values expire that long after their last change; the node that sets
// the first one decides.
func (j *Journal) SetSession(ctx context.Context, name string, value []byte, revision uint64, life time.Duration) error {
	return j.set(ctx, jetstream.KeyValueConfig{Bucket: sessionBucket, TTL: life,
		Description: "what changes of sessions"}, name, value, revision)
}

func (j *Journal) set(ctx context.Context, in jetstream.KeyValueConfig, name string, value []byte, revision uint64) error {
	in.Replicas = j.shards[0].stream.CachedInfo().Config.Replicas
	err := retry(ctx, func(ctx context.Context) error {
		bucket, err := j.js.KeyValue(ctx, in.Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) { // servers lose answers where several nodes create it at once
			bucket, err = j.js.CreateOrUpdateKeyValue(ctx, in)
		}
		if err == nil {
			_, err = bucket.Update(ctx, name, value, revision)
		}
		return err
	}, errInFlight)
	if codeOf(err) == jetstream.JSErrCodeStreamWrongLastSequence {
		return messages.Errorf(messages.CodeConflict, "another node has changed %s", name)
	}
	return explained(err)
}
