package http

import (
	"context"
	"net/http"

	"github.com/seed889630bf/lastword/messages"
)

// errUnsigned is the answer of a server without a key.
var errUnsigned = messages.Errorf(messages.CodeNotFound, "this server signs no logs")

// getProof sends a proof that the log is as it was written. A failure in the middle cuts the connection.
func (s *Server) getProof(w http.ResponseWriter, r *http.Request, in *pathID) error {
	if _, err := s.Run(r.Context(), in.ID); err != nil {
		return err
	}
	if s.Prove == nil {
		return errUnsigned
	}
	out := &lateHeader{ResponseWriter: w}
	err := s.Prove(r.Context(), in.ID, out)
	if err != nil && out.sent {
		panic(http.ErrAbortHandler) // cut the connection: half a proof proves nothing
	}
	return err
}

// lateHeader sets the content type at the first Write, because an error before that has another type.
type lateHeader struct {
	http.ResponseWriter
	sent bool
}

// Write sets the content type before the first byte.
func (l *lateHeader) Write(data []byte) (int, error) {
	if !l.sent {
		l.Header().Set("Content-Type", string(formNDJSON))
		l.sent = true
	}
	return l.ResponseWriter.Write(data)
}

type keyList struct {
	Keys []string `json:"keys" doc:"Ed25519 public keys in base64, the newest first; the others have signed before" example:"[\"bEwxcqRDUUBMYm7IAuJ4PbrKFrEC7MSlUsFW6p3wFJc=\"]"`
}

func (s *Server) getKey(ctx context.Context, _ *struct{}) (keyList, error) {
	if s.Keys == nil {
		return keyList{}, errUnsigned
	}
	keys, err := s.Keys(ctx)
	return keyList{keys}, err
}
