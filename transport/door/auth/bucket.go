package auth

import (
	"container/list"
	"sync"
	"time"
)

const (
	// maxBuckets bounds the memory that the buckets take.
	maxBuckets = 10_000
	// keepIdle is how long a full bucket is kept. A missing bucket counts as full, so this only saves allocations.
	keepIdle = time.Minute
)

// buckets is a token-bucket rate limiter with one bucket per key. A bucket is stored as the time at which it will be
// full again. The zero time is a full bucket, so that unknown and idle keys are the same.
type buckets[K comparable] struct {
	interval time.Duration // between two calls at the rate
	depth    time.Duration // how far a bucket's time may lie in the future: burst calls
	start    time.Time

	// mu guards the fields below it.
	mu    sync.Mutex
	byKey map[K]*list.Element
	used  list.List // of *bucket[K], the most recently used first
}

type bucket[K comparable] struct {
	key  K
	full time.Duration // since start
}

// newBuckets returns a limiter. For a negative rate it is nil, which never refuses.
func newBuckets[K comparable](rate float64, burst int) *buckets[K] {
	if rate < 0 {
		return nil
	}
	// The depth is at most an hour times a million, which does not overflow.
	interval := time.Duration(min(float64(time.Second)/rate, float64(time.Hour)))
	depth := interval * time.Duration(min(max(burst, 1), 1_000_000))
	return &buckets[K]{interval: interval, depth: depth, start: time.Now(), byKey: map[K]*list.Element{}}
}

// take counts a call and returns 0. If the bucket is empty, it counts nothing and returns how long the caller must
// wait.
func (b *buckets[K]) take(key K) time.Duration {
	if b == nil {
		return 0
	}
	now := time.Since(b.start)
	b.mu.Lock()
	defer b.mu.Unlock()
	for range 2 { // drop buckets that have been full for a while; two suffice, because a call adds at most one
		if last := b.used.Back(); last != nil && last.Value.(*bucket[K]).full+keepIdle <= now {
			b.remove(last)
		}
	}
	k := b.of(key)
	full := max(k.full, now) + b.interval
	if wait := full - now - b.depth; wait > 0 {
		return wait
	}
	k.full = full
	return 0
}

// of returns the key's bucket and marks it as used. If there are too many buckets, it removes the least recently used.
func (b *buckets[K]) of(key K) *bucket[K] {
	if e, ok := b.byKey[key]; ok {
		b.used.MoveToFront(e)
		return e.Value.(*bucket[K])
	}
	if len(b.byKey) >= maxBuckets {
		b.remove(b.used.Back())
	}
	k := &bucket[K]{key: key}
	b.byKey[key] = b.used.PushFront(k)
	return k
}

func (b *buckets[K]) remove(e *list.Element) {
	delete(b.byKey, b.used.Remove(e).(*bucket[K]).key)
}
