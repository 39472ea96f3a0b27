package wire

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// primeAfter is how long a call may be silent before its client learns where to resume. If the connection breaks
// earlier, the call is lost.
const primeAfter = time.Second

// Resumes reports whether the client can resume a broken stream by an event id: over HTTP, up to 2025-11-25.
func (x *Exchange) Resumes() bool {
	p, http := x.out.(*response)
	return http && p.stream != nil && !x.modern && x.server.config.Resume != nil
}

// At records where the request continues if its stream breaks now. Config.Resume gets the place.
func (x *Exchange) At(place string) {
	if !x.Resumes() {
		return
	}
	id := x.eventID(place)
	x.place.Store(&id)
	if p := x.out.(*response); x.primes() && !p.stream.Begun() {
		p.beats.Within(primeAfter)
	}
}

// primes reports whether the client takes an event that only tells where to resume.
func (x *Exchange) primes() bool { return x.Version() >= mcp.ProtocolVersion20251125 }

// NotifyAt is Notify with a place at which the request continues if its stream breaks afterwards. place may be "".
func (x *Exchange) NotifyAt(place, method string, params any) error {
	if place != "" {
		place = x.eventID(place)
	}
	return x.notify(place, method, params)
}

// Place returns where a resumed request continues, or "".
func (x *Exchange) Place() string { return x.msg.place }

// eventID returns an event id: the place with the id and the progress token of the request, so that any server can
// resume it.
func (x *Exchange) eventID(place string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return place + ";" + encode(x.msg.id) + ";" + encode(x.msg.meta.token)
}

// resumed parses an event id. ok is false if eventID did not make it.
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

// resume continues a request whose stream broke, on the stream of a GET. There may be no session any more: the run's
// principal is checked.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, last string) {
	m, ok := resumed(last)
	if !ok {
		refuse(w, http.StatusNotFound, nil, errorf(mcp.INVALID_PARAMS, "there is no stream with this Last-Event-ID: call again"))
		return
	}
	session, err := s.find(r)
	table := &s.modern
	switch {
	case err != nil:
		s.notNow(w, m.id, err)
		return
	case session != nil:
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
	_ = p.stream.Flush() // the exchange notices an error
	p.serve(r)
}
