package http

import (
	"context"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

type artifactList struct {
	Artifacts []messages.Artifact `json:"artifacts" doc:"The files that the run wrote"`
}

func (s *Server) listArtifacts(ctx context.Context, in *pathID) (artifactList, error) {
	state, err := s.Run(ctx, in.ID)
	if err != nil {
		return artifactList{}, err
	}
	return artifactList{append([]messages.Artifact{}, state.Artifacts...)}, nil
}

// artifactInput holds the parameters of the routes of one artifact.
type artifactInput struct {
	ID   messages.RunID `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	Name string         `path:"name" doc:"The artifact's name" example:"llms.txt"`
}

// getArtifact answers with the file. The ETag is the file's digest, and range requests are served.
func (s *Server) getArtifact(w http.ResponseWriter, r *http.Request, in *artifactInput) error {
	state, err := s.Run(r.Context(), in.ID)
	if err != nil {
		return err
	}
	file, a, err := s.Artifact(r.Context(), state, in.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	h := w.Header()
	h.Set("ETag", `"`+a.SHA256+`"`)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", mediaType(a.Name))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(a.Name)}))
	h.Set("Content-Security-Policy", "sandbox")
	http.ServeContent(w, r, "", state.UpdatedAt, file)
	return nil
}

// mediaType returns the media type of a file, by its name. It is never a type that a browser executes, such as HTML.
func mediaType(name string) string {
	switch kind := messages.MediaType(name); {
	case kind == "text/markdown":
		return kind + "; charset=utf-8"
	case strings.HasSuffix(kind, "json"):
		return kind
	case messages.IsText(kind):
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

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
