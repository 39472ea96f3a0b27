package host

import (
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// spending bounds the tokens of models that each principal's runs use in a day of UTC. It lives as long as the server.
type spending struct {
	limit int64

	mu   sync.Mutex
	day  time.Time // its beginning
	used map[string]int64
}

const day = 24 * time.Hour

// add counts tokens of a call that has ended. A nil spending counts nothing.
func (s *spending) add(principal string, tokens int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn()
	if s.used[principal] < s.limit { // so that the sum cannot overflow
		s.used[principal] += tokens
	}
}

// admit refuses a start of the principal whose day is used up. Errors: limit_exceeded.
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

// turn begins a new day if there is one. Under mu.
func (s *spending) turn() {
	if today := time.Now().UTC().Truncate(day); !today.Equal(s.day) {
		s.day, s.used = today, map[string]int64{}
	}
}
