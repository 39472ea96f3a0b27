package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

const (
	sessionUse = "MCP session"   // what ids of sessions are sealed for
	mostID     = 1 << 10         // bytes of an id; longer capabilities go into the session's row
	rowTime    = 5 * time.Second // maximum time to write a row
)

// ticket is what initialize fixed of a session. The session's id seals it, so any process with the key restores the
// session. It is no credential: the caller of each request must be the one that it names.
type ticket struct {
	Name         string          `json:"n"`
	Principal    string          `json:"p,omitempty"`
	Scopes       []auth.Scope    `json:"s,omitempty"`
	Run          messages.RunID  `json:"r,omitempty"` // whose program it is
	Version      string          `json:"v"`
	Capabilities json.RawMessage `json:"c,omitempty"`
	Digest       string          `json:"d,omitempty"` // of capabilities that are in the row
	Began        int64           `json:"t"`           // in seconds since 1970
}

// row is what has changed of a session.
type row struct {
	Used         int64            `json:"used"` // when it was last known to be in use, in seconds since 1970
	Closed       bool             `json:"closed,omitempty"`
	Level        mcp.LoggingLevel `json:"level,omitempty"`
	URIs         []string         `json:"uris,omitempty"` // of the resources that it subscribes to
	Capabilities json.RawMessage  `json:"capabilities,omitempty"`
}

// name returns the session's id, once initialize has fixed what it seals.
func (s *Session) name(ctx context.Context) (id string, err error) {
	known := s.client()
	t := ticket{Name: s.id, Principal: s.principal.Name, Scopes: s.principal.Scopes, Run: runOf(s.principal), Version: known.version, Began: time.Now().Unix()}
	t.Capabilities, _ = json.Marshal(known.capabilities) // it came as JSON
	s.used.Store(t.Began)
	sealed := func() string {
		plain, _ := json.Marshal(t) // it has strings and numbers
		return s.server.config.Keys.Seal(sessionUse, plain)
	}
	if id = sealed(); len(id) > mostID {
		err = s.change(ctx, func(r *row) { r.Capabilities = t.Capabilities })
		t.Capabilities, t.Digest = nil, messages.Digest(string(t.Capabilities))
		id = sealed()
	}
	return id, err
}

// runOf returns the run that the caller is inside, or "".
func runOf(p auth.Principal) messages.RunID {
	if p.Inside == nil {
		return ""
	}
	return p.Inside.Run
}

// find returns the session that the request names: one in memory, or else one that it restores. It returns nil if there
// is none, if its client has closed it, or if it belongs to somebody else. The principal and the scopes of the token must
// be those of the session; otherwise a token could answer, cancel or listen beyond its scopes.
func (s *Server) find(r *http.Request) (*Session, error) {
	var t ticket
	plain, ok := s.config.Keys.Open(sessionUse, r.Header.Get(mcp.HeaderSessionID))
	if !ok || json.Unmarshal(plain, &t) != nil {
		return nil, nil
	}
	caller := auth.From(r.Context())
	owner := auth.Principal{Name: t.Principal, Scopes: t.Scopes, Inside: caller.Inside}
	if !owner.Same(caller) || t.Run != runOf(caller) {
		return nil, nil
	}
	session, now := s.sessions.find(t.Name), time.Now()
	if session == nil || s.config.Rows.Shared && now.UnixNano()-session.learned.Load() > int64(seal.Recheck) {
		saved, _, err := s.row(r.Context(), t.Name)
		used := time.Unix(max(t.Began, saved.Used), 0)
		switch {
		case err != nil:
			return nil, err
		case saved.Closed || now.Sub(used) > seal.Life+seal.Renewal || t.Digest != "" && t.Digest != messages.Digest(string(saved.Capabilities)):
			if session != nil {
				s.sessions.drop(session)
			}
			return nil, nil
		case session == nil:
			if session, err = s.restore(t, owner, saved); err != nil {
				return nil, err
			}
		}
		session.learn(saved, used)
	}
	session.stay(r.Context())
	return session, nil
}

// restore puts a session that another process began, or that was idle, into the table.
func (s *Server) restore(t ticket, owner auth.Principal, saved row) (*Session, error) {
	session := s.newSession(t.Name, owner)
	session.known.version, session.asleep = t.Version, saved.URIs
	if t.Digest != "" {
		t.Capabilities = saved.Capabilities
	}
	_ = json.Unmarshal(t.Capabilities, &session.known.capabilities) // it was encoded from such a value
	session.initialized.Store(true)
	return s.sessions.add(session)
}

// learn takes over what a row says.
func (s *Session) learn(saved row, used time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.level = cmp.Or(saved.Level, mcp.LoggingLevelInfo)
	s.used.Store(used.Unix())
	s.learned.Store(time.Now().UnixNano())
}

// stay makes the session's row say once in a while that the session is in use.
func (s *Session) stay(ctx context.Context) {
	if time.Since(time.Unix(s.used.Load(), 0)) < seal.Renewal {
		return
	}
	if err := s.change(ctx, func(*row) {}); err != nil {
		s.server.log.Warn("the use of a session is not stored", zap.Error(err))
	}
}

// Subscribe keeps in the session's row that it subscribes to the resource, or that it no longer does.
func (s *Session) Subscribe(ctx context.Context, uri string, on bool) error {
	s.mu.Lock()
	s.asleep = slices.DeleteFunc(slices.Clone(s.asleep), func(u string) bool { return u == uri })
	s.mu.Unlock()
	return s.change(ctx, func(r *row) {
		r.URIs = slices.DeleteFunc(r.URIs, func(u string) bool { return u == uri })
		if on {
			r.URIs = append(r.URIs, uri)
		}
	})
}

// wake returns the subscriptions of a restored session that nobody has made again.
func (s *Session) wake() (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uris, s.asleep = s.asleep, nil
	return uris
}

// change changes the session's row. It calls do again if another node has changed the row meanwhile.
func (s *Session) change(ctx context.Context, do func(*row)) error {
	if s.stdio {
		return nil
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), rowTime)
	defer stop()
	for {
		saved, revision, err := s.server.row(ctx, s.id)
		if err == nil {
			do(&saved)
			saved.Used = time.Now().Unix()
			text, _ := json.Marshal(saved) // it has strings and JSON
			err = s.server.config.Rows.Set(ctx, s.id, text, revision)
		}
		if messages.CodeOf(err) == messages.CodeConflict && ctx.Err() == nil {
			continue
		}
		if err == nil {
			s.used.Store(saved.Used)
		}
		return err
	}
}

// row reads a session's row. There may be none.
func (s *Server) row(ctx context.Context, name string) (saved row, revision uint64, err error) {
	text, revision, err := s.config.Rows.Get(ctx, name)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &saved)
	}
	return saved, revision, err
}
