package seal

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Life is how long a session is known after its last request. A session in use says so once in Renewal, so Life may be
// off by as much.
const Life, Renewal = 24 * time.Hour, time.Hour

// Recheck is how long a change at another node may go unseen.
const Recheck = 2 * time.Second

// Rows keep the part of each session that changes, in a row with the session's name, for [Life] and [Renewal] after its last change.
type Rows struct {
	// Get returns a row and its revision: nil and 0 if there is none.
	Get func(ctx context.Context, name string) (row []byte, revision uint64, err error)
	// Set stores the row if its revision is still the same. Errors: conflict.
	Set func(ctx context.Context, name string, row []byte, revision uint64) error
	// Shared says that other nodes change rows, too.
	Shared bool
}

// NewRows returns rows that end with the process, or the given ones if they can be read.
func NewRows(given Rows) Rows {
	if given.Get != nil {
		return given
	}
	type kept struct {
		row []byte
		at  time.Time
	}
	var mu sync.Mutex
	all, swept := map[string]kept{}, time.Now()
	return Rows{
		Get: func(_ context.Context, name string) ([]byte, uint64, error) {
			mu.Lock()
			defer mu.Unlock()
			return all[name].row, 0, nil
		},
		Set: func(_ context.Context, name string, row []byte, _ uint64) error {
			mu.Lock()
			defer mu.Unlock()
			now := time.Now()
			if now.Sub(swept) > Renewal {
				swept = now
				maps.DeleteFunc(all, func(_ string, k kept) bool { return now.Sub(k.at) > Life+Renewal })
			}
			all[name] = kept{row, now}
			return nil
		},
	}
}
