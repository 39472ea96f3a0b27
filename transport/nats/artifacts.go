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

// bucketName is the object store of the files that runs write.
const bucketName = "ARTIFACTS"

// saveTimeout bounds one try to save or load a file.
const saveTimeout = time.Minute

// Save keeps a file for all nodes, in place of another of the name, for as long as the stream keeps a log.
func (j *Journal) Save(ctx context.Context, name string, file io.ReadSeeker) error {
	for began := time.Now(); ; {
		once, cancel := context.WithTimeout(ctx, saveTimeout)
		err := j.save(once, name, file)
		cancel()
		if err == nil || ctx.Err() != nil || slices.Contains(errFull, codeOf(err)) || time.Since(began) > patience {
			return explained(err)
		}
		select {
		case <-time.After(askTimeout / 10):
		case <-ctx.Done():
		}
	}
}

func (j *Journal) save(ctx context.Context, name string, file io.ReadSeeker) error {
	bucket, err := j.js.ObjectStore(ctx, bucketName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		runs := j.stream.CachedInfo().Config
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

// Load writes a saved file to w. Errors: not_found.
func (j *Journal) Load(ctx context.Context, name string, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	bucket, err := j.js.ObjectStore(ctx, bucketName)
	var file jetstream.ObjectResult
	if err == nil {
		file, err = bucket.Get(ctx, name)
	}
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrObjectNotFound) {
		return messages.Errorf(messages.CodeNotFound, "no node has saved %s", name)
	}
	if err != nil {
		return explained(err)
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}
