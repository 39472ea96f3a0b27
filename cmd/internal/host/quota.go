package host

import (
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// remeasure is how long the measured size of a folder is used, plus what is written in the meantime. Files may also be
// removed.
const remeasure = 10 * time.Second

// quota limits the size of each caller's files below the output folder. mu guards byHome.
type quota struct {
	out   string
	limit int64 // 0 means no limit

	mu     sync.Mutex
	byHome map[string]*usage
}

// usage is the size of a caller's folder when it was measured, plus what was written since.
type usage struct {
	bytes    int64
	measured time.Time
}

// take counts bytes that a run writes below home. Errors: limit_exceeded.
func (q *quota) take(home string, bytes int64) error {
	if q.limit == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.byHome[home]
	if u == nil || time.Since(u.measured) > remeasure {
		u = &usage{sizeOf(filepath.Join(q.out, home)), time.Now()}
		if q.byHome == nil {
			q.byHome = map[string]*usage{}
		}
		q.byHome[home] = u
	}
	if u.bytes+bytes > q.limit {
		return messages.Errorf(messages.CauseLimitExceeded,
			"your files on this server would take more than "+
				"%d bytes; ask its operator to remove some, or to raise serve --max-out-each", q.limit)
	}
	u.bytes += bytes
	return nil
}

// sizeOf returns the total size of the files below the folder. It ignores what cannot be read.
func sizeOf(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
