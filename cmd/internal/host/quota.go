package host

import (
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
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

// spending limits the model tokens that each principal's runs use per UTC day. It counts from the start of the server.
// mu guards the fields below it.
type spending struct {
	limit int64 // 0 means no limit

	mu   sync.Mutex
	day  time.Time // beginning of the day
	used map[string]int64
}

// day is the time after which the count of tokens begins anew.
const day = 24 * time.Hour

// add counts the tokens of a call that has ended.
func (s *spending) add(principal string, tokens int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn()
	if s.used[principal] < s.limit { // the sum cannot overflow
		s.used[principal] += tokens
	}
}

// admit returns an error (limit_exceeded) if the principal has used up the day's tokens.
func (s *spending) admit(principal string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn()
	if s.limit == 0 || s.used[principal] < s.limit {
		return nil
	}
	ends := s.day.Add(day)
	return auth.RetryAfter(time.Until(ends), messages.Errorf(messages.CauseLimitExceeded,
		"your runs have used the %d tokens of models that a caller has a day; start again after %s, "+
			"or ask the operator to raise serve --model-tokens-per-day", s.limit, ends.Format("2006-01-02 15:04 UTC")))
}

// turn starts a new day if necessary. mu must be held.
func (s *spending) turn() {
	if today := time.Now().UTC().Truncate(day); !today.Equal(s.day) {
		s.day, s.used = today, map[string]int64{}
	}
}
