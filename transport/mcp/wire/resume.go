package wire

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// primeAfter is how long a call is silent before its client learns where to go on from. A cut before that ends the
// call, since it has no answer yet.
const primeAfter = time.Second

// Resumes reports whether the client can go on where its stream broke: by an event id, over HTTP up to 2025-11-25.
func (x *Exchange) Resumes() bool {
	p, http := x.out.(*response)
	return http && p.stream != nil && !x.modern && x.server.config.Resume != nil
}

// At says where the request goes on if its stream breaks now: place is what Config.Resume gets.
func (x *Exchange) At(place string) {
	if !x.Resumes() || x.Version() < mcp.ProtocolVersion20251125 {
		return
	}
	id := x.eventID(place)
	x.place.Store(&id)
	x.out.(*response).beats.Within(primeAfter)
}

// NotifyAt is Notify; the request goes on at the place after it, if there is one.
func (x *Exchange) NotifyAt(place, method string, params any) error {
	if place != "" {
		place = x.eventID(place)
	}
	return x.notify(place, method, params)
}

// Place returns where a resumed request goes on, or "".
func (x *Exchange) Place() string { return x.msg.place }

// eventID is the place with the id and the progress token of the request, so that any server can go on.
func (x *Exchange) eventID(place string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return place + ";" + encode(x.msg.id) + ";" + encode(x.msg.meta.token)
}

// resumed reads an event id. ok is false for one that eventID did not make.
func resumed(id string) (m message, ok bool) {
	parts := strings.Split(id, ";")
	n := len(parts) - 2
	if n < 1 {
		return m, false
	}
	request, err1 := base64.RawURLEncoding.DecodeString(parts[n])
	token, err2 := base64.RawURLEncoding.DecodeString(parts[n+1])
	if err1 != nil || err2 != nil || !json.Valid(request) || !validID(request) {
		return m, false
	}
	if m.id, m.place = request, strings.Join(parts[:n], ";"); json.Valid(token) && validID(token) {
		m.meta.token = token
	}
	return m, true
}

// resume goes on with the request whose stream broke, on the stream of a GET. The session may be one that this server
// does not know, since it was restarted: the principal is what counts.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, last string) {
	m, ok := resumed(last)
	if !ok {
		refuse(w, http.StatusBadRequest, nil, errorf(mcp.INVALID_PARAMS, "Last-Event-ID is not one that this server gave"))
		return
	}
	session, table := s.sessions.find(r.Header.Get(mcp.HeaderSessionID), auth.From(r.Context())), &s.modern
	if session != nil {
		session.touch()
		defer session.touch()
		table = &session.requestTable
	}
	x := s.newExchange(r.Context(), m, session, table)
	x.modern = false
	p := x.respond(w, r)
	if err := table.take(x, s.config.Requests); err != nil {
		refuse(w, http.StatusServiceUnavailable, m.id, err)
		return
	}
	w.Header().Set(mcp.HeaderSessionID, r.Header.Get(mcp.HeaderSessionID))
	_ = p.stream.Flush() // the exchange finds out
	p.serve(r)
}
