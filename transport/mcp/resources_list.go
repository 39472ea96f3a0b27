package mcp

import (
	"cmp"
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// mostListed is the maximum number of artifacts in one resources/list, and of runs that are searched for them.
const mostListed = 50

// listArtifacts adds the artifacts of the caller's newest runs to the list of resources, which is otherwise the same
// for all callers. If several runs wrote the same file, only the newest is listed.
func (s *Server) listArtifacts(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	if !auth.From(ctx).May(auth.ReadRuns) || s.config.Open == nil {
		return
	}
	runs, err := s.Runs(ctx, messages.Query{Limit: mostListed})
	if err != nil {
		s.config.Log.Warn("the artifacts cannot be listed", zap.Error(err))
	}
	n, written := 0, map[string]bool{}
	for _, run := range runs {
		state, err := s.Run(ctx, run.RunID)
		if err != nil { // the run was removed in the meantime
			continue
		}
		for _, a := range s.hub.Newest(state, written) {
			if n++; n > mostListed {
				return
			}
			r := mcp.Resource{URI: ArtifactURI(state.RunID, a.Name), Name: a.Name, MIMEType: messages.MediaType(a.Name), Size: &a.Bytes,
				Title: cmp.Or(a.Path, a.Name), Description: "written by run " + string(state.RunID) + " of " + state.Queued.Job}
			r.Annotations = &mcp.Annotations{LastModified: state.UpdatedAt.UTC().Format(time.RFC3339)}
			result.Resources = append(result.Resources, r)
		}
	}
}
