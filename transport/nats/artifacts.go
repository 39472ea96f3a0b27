package nats

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/messages"
)

// bucketName is the object store that holds the files of runs.
const bucketName = "ARTIFACTS"

// loadTimeout is how long loading a file may take.
const loadTimeout = time.Minute

// Save stores a file for all nodes, and replaces a file of the same name. It is kept as long as the stream keeps a log.
func (j *Journal) Save(ctx context.Context, name string, file io.ReadSeeker) error {
	// With a deadline, the library would wait for that long if no server received a message; without one, it waits 5 s.
	timeless, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	for began := time.Now(); ; {
		err := j.save(timeless, name, file)
		if err == nil || ctx.Err() != nil || slices.Contains(errFull, codeOf(err)) || time.Since(began) > patience {
			return explained(err)
		}
		pause(ctx, askTimeout/10)
	}
}

// save stores a file, and creates the bucket if this is the first one.
func (j *Journal) save(ctx context.Context, name string, file io.ReadSeeker) error {
	bucket, err := j.js.ObjectStore(ctx, bucketName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		runs := j.shards[0].stream.CachedInfo().Config
		bucket, err = j.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucketName,
			Description: "the files of lastword's runs", TTL: runs.MaxAge, Replicas: runs.Replicas})
	}
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = bucket.Put(ctx, jetstream.ObjectMeta{Name: name}, file)
	return err
}

// Load writes a stored file to w. Errors: not_found.
func (j *Journal) Load(ctx context.Context, name string, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var file jetstream.ObjectResult
	err := retry(ctx, func(context.Context) error { // ctx, not the function's own context, must last until the file is read
		bucket, err := j.js.ObjectStore(ctx, bucketName)
		if err == nil {
			file, err = bucket.Get(ctx, name)
		}
		return err
	})
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrObjectNotFound) {
		return messages.Errorf(messages.CodeNotFound, "no node has saved %s", name)
	}
	if err != nil {
		return explained(err)
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}
