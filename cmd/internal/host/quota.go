package host

import (
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// remeasure is how long a folder's measured size holds, besides what is written meanwhile: files are removed, too.
const remeasure = 10 * time.Second

// quota bounds the bytes of each caller's files below the output folder.
type quota struct {
	out   string
	limit int64 // no limit if 0

	mu     sync.Mutex
	byHome map[string]*usage
}

// usage is how many bytes a caller's folder had when it was measured, and was given since.
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

// sizeOf returns how many bytes the files below the folder have. What cannot be read counts as nothing.
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
