package http

import (
	"net/http"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// openSession has the browser send the caller's token by itself.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request, _ *struct{}) {
	if err := auth.OpenSession(w, r, s.config.Secure); err != nil {
		auth.Refuse(w, err)
	}
}

func (s *Server) closeSession(w http.ResponseWriter, _ *http.Request, _ *struct{}) {
	auth.CloseSession(w)
}
