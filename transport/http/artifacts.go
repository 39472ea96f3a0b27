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
