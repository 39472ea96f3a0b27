package lmstxt

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

const (
	runScheme  = "lmstxt://runs/"
	nodeScheme = "repo://"
)

// addResources adds the templates. All share one reader, which tells them apart by the scheme.
func (d *door) addResources() {
	for _, r := range []mcp.Resource{{
		Template: "lmstxt://runs/{run_id}/{+artifact_name}", Name: "lmstxt-run-artifact", Title: "File of a run",
		Description: "A file that a run which has ended wrote, run.log or run.events.jsonl.",
	}, {
		Template: "lmstxt://artifacts/{+filename}", Name: "lmstxt-artifact", Title: "llms.txt file",
		Description: "A text file below your folder, as lmstxt_list_all_artifacts names it.",
	}, {
		Template: "lmstxt://graphs/{+filename}", Name: "lmstxt-graph", Title: "Graph file",
		Description: "A file of a repository's graph, as lmstxt_list_graph_artifacts names it.",
	}, {
		Template: "repo://{repo_id}/graph/nodes/{node_id}", Name: "lmstxt-graph-node", Title: "Page of a node",
		Description: "The page of one package of a repository's graph; the repository is owner--repo.",
	}} {
		d.failed = errors.Join(d.failed, d.AddResource(r, d.readResource))
	}
}

// mostChars is the maximum length of a resource in characters.
const mostChars = 16 << 20

// readResource reads any resource of this package. It looks at the URI only, because the matching template says nothing
// more.
func (d *door) readResource(ctx context.Context, uri string) (mcp.Contents, error) {
	w := &window{limit: mostChars}
	name, err := d.copyResource(ctx, uri, w)
	if err != nil {
		return mcp.Contents{}, err
	}
	text := w.end()
	if text.Truncated {
		return mcp.Contents{}, messages.LimitExceeded("the file has %d characters, and one answer gives %d; read it in parts with the tool "+
			"lmstxt_read_artifact, or lmstxt_read_graph_artifact", text.TotalChars, mostChars)
	}
	return mcp.Contents{MIMEType: messages.MediaType(name), Text: text.Content}, nil
}

// copyResource writes the content of a resource to w, and returns the name of the file.
func (d *door) copyResource(ctx context.Context, uri string, w io.Writer) (name string, err error) {
	plain, err := url.PathUnescape(uri)
	if err != nil {
		return "", mcp.ErrNoResource
	}
	if rest, ok := strings.CutPrefix(plain, runScheme); ok {
		id, name, _ := strings.Cut(rest, "/")
		state, err := d.run(ctx, messages.RunID(id))
		if err != nil {
			return name, err
		}
		return name, d.copyFrom(ctx, state, name, w)
	}
	if name, ok := strings.CutPrefix(plain, artifactScheme); ok {
		if path.Ext(name) != ".txt" {
			return name, mcp.ErrNoResource
		}
		return name, d.copyFile(ctx, name, w)
	}
	if name, ok := strings.CutPrefix(plain, graphScheme); ok {
		return name, d.copyGraph(ctx, name, w)
	}
	repo, node, ok := strings.Cut(strings.TrimPrefix(plain, nodeScheme), "/graph/nodes/")
	if !ok {
		return "", mcp.ErrNoResource
	}
	return node + ".md", d.copyNode(ctx, repo, node, w)
}
