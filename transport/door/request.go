package door

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Handler routes the HTTP requests of a protocol, and answers errors in the protocol's format.
type Handler struct {
	mux *http.ServeMux
	// Refuse answers with an error in the protocol's format. The checks in front of the handler use it too.
	Refuse func(http.ResponseWriter, error)
}

// Routes returns a handler that calls the function of the pattern (see http.ServeMux) that a request matches. It passes
// the function's error to refuse.
func Routes(routes map[string]func(http.ResponseWriter, *http.Request) error, refuse func(http.ResponseWriter, error)) *Handler {
	h := &Handler{mux: http.NewServeMux(), Refuse: refuse}
	for pattern, serve := range routes {
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				refuse(w, err)
			}
		})
	}
	return h
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, ok := Match(h.mux, w, r, h.Refuse); ok {
		h.mux.ServeHTTP(w, r)
	}
}

// Match returns the pattern that the request matches. If there is none, it answers the request and returns false:
// OPTIONS with the methods of the path, another method with method_not_allowed, an unknown path with not_found. A
// WebSocket gets the status 426, at which clients such as Codex go on with POST.
func Match(mux *http.ServeMux, w http.ResponseWriter, r *http.Request, refuse func(http.ResponseWriter, error)) (string, bool) {
	clean := path.Clean(r.URL.Path) == r.URL.Path // the mux would redirect the rest
	if _, pattern := mux.Handler(r); clean && pattern != "" {
		return pattern, true
	}
	var methods []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
		if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); clean && pattern != "" {
			methods = append(methods, method)
		}
	}
	switch {
	case len(methods) == 0:
		refuse(w, messages.Errorf(messages.CodeNotFound, "there is nothing at %.200q; /openapi.json lists the paths", r.URL.Path))
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", strings.Join(append(methods, http.MethodOptions), ", "))
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", strings.Join(methods, ", "))
		err := error(messages.Errorf(auth.CodeNotAllowed, "%.200s takes %s", r.URL.Path, strings.Join(methods, ", ")))
		if isWebSocket(r) {
			p := auth.ProblemOf(err)
			p.Status, err = http.StatusUpgradeRequired, p
			w.Header().Set("Upgrade", "HTTP/1.1")
			w.Header().Set("Connection", "Upgrade")
		}
		refuse(w, err)
	}
	return "", false
}

// Accepts returns the first of types that the Accept field allows, or types[0] if the field names no type. Errors:
// not_acceptable, which lists the types.
func Accepts(field string, types ...string) (string, error) {
	named := false
	for one := range strings.SplitSeq(field, ",") {
		requested, params, _ := strings.Cut(one, ";")
		if requested = strings.ToLower(strings.TrimSpace(requested)); strings.Contains(strings.ReplaceAll(params, " ", "")+";", "q=0;") {
			continue
		}
		named = named || strings.Contains(requested, "/")
		for _, have := range types {
			main, _, _ := strings.Cut(have, "/")
			if requested == have || requested == main+"/*" || requested == "*/*" {
				return have, nil
			}
		}
	}
	if !named {
		return types[0], nil
	}
	return "", messages.Errorf(auth.CodeNotAcceptable, "none of the types in Accept is offered here; ask for %s", strings.Join(types, ", "))
}

// Read returns the body of a request. Errors: too_large, bad_request.
func Read(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	// Allocate only as much as the body needs if its length is known. Package auth has checked that length.
	body, err := []byte(nil), error(nil)
	if r.ContentLength > 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(r.Body)
	}
	if err != nil {
		if p := auth.ProblemOf(err); p.Code == string(auth.CodeTooLarge) {
			return nil, p
		}
		return nil, messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
	}
	return body, nil
}

// ReadText is Read for a body that must be UTF-8: encoding/json would replace what is not.
func ReadText(r *http.Request) ([]byte, error) {
	body, err := Read(r)
	if err == nil && !utf8.Valid(body) {
		err = messages.Errorf(auth.CodeBadRequest, "the body is not UTF-8; convert it")
	}
	return body, err
}

// ReadJSON decodes the JSON body of a request. Errors: too_large, bad_request.
func ReadJSON(r *http.Request, into any) error {
	body, err := ReadText(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return messages.Errorf(auth.CodeBadRequest, "the body cannot be read: %v", err)
	}
	return nil
}
