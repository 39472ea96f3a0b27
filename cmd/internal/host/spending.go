package host

import (
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// spending limits the model tokens that each principal's runs use per UTC day. It counts from the start of the server.
// mu guards the fields below it.
type spending struct {
	limit int64

	mu   sync.Mutex
	day  time.Time // beginning of the day
	used map[string]int64
}

// day is the time after which the count of tokens begins anew.
const day = 24 * time.Hour

// add counts the tokens of a call that has ended. On a nil spending it does nothing.
func (s *spending) add(principal string, tokens int64) {
	if s == nil {
		return
	}
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
	if s.used[principal] < s.limit {
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
