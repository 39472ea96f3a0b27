package auth

import (
	"crypto/sha256"
	"strconv"
	"testing"
)

// "page sessions are bounded": one more than all may have ends the oldest, and who opens and closes many ends no other's.
func TestSessionsAreBounded(t *testing.T) {
	s, keys := new(sessions), []digest{}
	open := func(name string) {
		keys = append(keys, sha256.Sum256([]byte(s.open(entry{principal: Principal{Name: name}}))))
	}
	s.close(digest{})
	open("mia")
	for range 3 * mostOfAll {
		open("eve")
		s.close(keys[len(keys)-1])
	}
	if _, ok := s.token(keys[0]); !ok || len(s.all) > 2*mostOfAll {
		t.Errorf("the session of another has ended, of %d", len(s.all))
	}
	for i := range mostOfAll {
		open(strconv.Itoa(i))
	}
	_, first := s.token(keys[0])
	_, last := s.token(keys[len(keys)-1])
	if first || !last || len(s.tokens) != mostOfAll || len(s.of) != mostOfAll {
		t.Errorf("%d sessions of %d principals are open; the oldest: %v, the newest: %v", len(s.tokens), len(s.of), first, last)
	}
}
