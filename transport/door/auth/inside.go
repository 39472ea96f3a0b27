package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// Inside is a run that a program works for, with the token that was made for it. The program may start sub-runs and
// read them. It may answer nothing.
type Inside struct {
	Run messages.RunID
	// Start starts a sub-run.
	Start func(ctx context.Context, q messages.Request) (messages.RunID, error)
	// Path is what the token is for instead of /v1/, or ""; "/" is all.
	Path string
}

// Has reports whether the run is in the tree. Callers outside of runs see all of their runs.
func (i *Inside) Has(run messages.RunID) bool {
	return i == nil || run == i.Run || strings.HasPrefix(string(run), string(i.Run)+".")
}

// RunTokens are the tokens of the programs inside runs. mu guards live. The zero RunTokens are ready for use.
type RunTokens struct {
	mu   sync.Mutex
	live map[digest]entry
}

// digest is the SHA-256 of a token.
type digest = [sha256.Size]byte

// runPrefix begins the tokens of runs.
const runPrefix = tokenPrefix + "run_"

// Add makes a token for a program of the principal's run. It is valid until end is called.
func (t *RunTokens) Add(principal string, in Inside) (token string, end func()) {
	token, _ = NewToken()
	token = runPrefix + strings.TrimPrefix(token, tokenPrefix)
	e := entry{digest: sha256.Sum256([]byte(token)), principal: Principal{Name: principal, Scopes: []Scope{ReadRuns, WriteRuns}, Inside: &in}}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = map[digest]entry{}
	}
	t.live[e.digest] = e
	return token, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.live, e.digest)
	}
}

func (t *RunTokens) lookup(key digest) (e entry, live bool) {
	if t == nil {
		return e, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, live = t.live[key]
	return e, live
}

// lookup finds a token of a run or of the file.
func (m *Middleware) lookup(key digest) (entry, bool) {
	if e, live := m.config.RunTokens.lookup(key); live || m.config.Tokens == nil {
		return e, live
	}
	return m.config.Tokens.lookup(key)
}

// ofRun reports whether the request has a token that was made for a run, which may have ended.
func ofRun(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(strings.TrimSpace(token), runPrefix)
}

// confined refuses a program inside a run whatever is not about runs: sessions, and all other protocols.
func (m *Middleware) confined(w http.ResponseWriter, r *http.Request, p Principal) bool {
	switch {
	case p.Inside == nil, p.Inside.Path == "/", p.Inside.Path == r.URL.Path, p.Inside.Path == "" && strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/v1/session":
		return true
	}
	m.refuse(w, messages.Errorf(CodeForbidden, "the token was made for run %s, and is for %s alone", p.Inside.Run, cmp.Or(p.Inside.Path, "/v1/runs")))
	return false
}
