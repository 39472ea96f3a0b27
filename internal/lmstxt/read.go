package lmstxt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// windowArguments are the properties of the arguments that choose a part.
const windowArguments = `"offset":{"type":"integer","minimum":0,"default":0,"description":"first character ` +
	`to give"},"limit":{"type":"integer","minimum":1,"maximum":100000,"default":10000,"description":"the ` +
	`most characters"}`

// defaultLimit is the number of characters of a part, if the client names none.
const defaultLimit = 10_000

func (d *door) addReaders() {
	addTool(d, mcp.Tool{Name: "lmstxt_read_artifact", Title: "Read a file of a run",
		Description: "Reads a part of what a run that has ended wrote, or of its log: of run_id, or of the last run " +
			"for repo_url into output_dir. While the run works, the content is Processing... and the status processing.",
		Input: mcp.Object([]string{"artifact_name"},
			`"artifact_name":{"type":"string","enum":["llms.txt","llms-full.txt","llms-ctx.txt","llms.json","repo.graph.json",`+
				`"repo.force.json","trace.json","run.log","run.events.jsonl"],"description":"run.log has the run's messages, `+
				`run.events.jsonl its events"}`,
			`"run_id":{"type":"string","description":"the run, or give repo_url"}`,
			`"repo_url":{"type":"string","description":"the repository"}`,
			`"output_dir":{"type":"string","default":"./artifacts","description":"where it was written, with `+
				`repo_url"}`,
			windowArguments),
		Output: json.RawMessage(textSchema), ReadOnly: true, Idempotent: true}, d.readArtifact)
	addTool(d, mcp.Tool{Name: "lmstxt_read_graph_artifact", Title: "Read a graph file",
		Description: "Reads a part of a file of a repository's graph, as lmstxt_list_graph_artifacts names it.",
		Input: mcp.Object([]string{"filename"},
			`"filename":{"type":"string","minLength":1,"description":"the file, below your folder"}`, windowArguments),
		Output: json.RawMessage(textSchema), ReadOnly: true, Idempotent: true}, d.readGraph)
	addTool(d, mcp.Tool{Name: "lmstxt_read_repo_graph_node", Title: "Read a node's page",
		Description: "Reads a part of the page of one package of a repository's graph. The ids of the nodes are in " +
			"repo.graph.json.",
		Input: mcp.Object([]string{"repo_id", "node_id"},
			`"repo_id":{"type":"string","minLength":1,"description":"owner--repo or owner/repo"}`,
			`"node_id":{"type":"string","minLength":1,"description":"the package's id"}`, windowArguments),
		Output: json.RawMessage(textSchema), ReadOnly: true, Idempotent: true}, d.readNode)
}

// part says which characters of a text are wanted.
type part struct {
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

// read returns the requested part of what write writes.
func (p part) read(write func(io.Writer) error) (*mcp.Result, error) {
	w := &window{offset: p.Offset, limit: cmp.Or(p.Limit, defaultLimit)}
	err := write(w)
	if _, works := errors.AsType[*unfinished](err); works {
		return mcp.Structured(text{Content: processing, TotalChars: len(processing), Status: messages.Processing})
	}
	if err != nil {
		return nil, err
	}
	return mcp.Structured(w.end())
}

// readArguments name an artifact of a run, or of the last run for a repository.
type readArguments struct {
	part
	RunID        messages.RunID `json:"run_id"`
	RepoURL      string         `json:"repo_url"`
	OutputDir    string         `json:"output_dir"`
	ArtifactName string         `json:"artifact_name"`
}

func (d *door) readArtifact(ctx context.Context, a readArguments) (*mcp.Result, error) {
	return a.read(func(w io.Writer) error { return d.copyArtifact(ctx, a, w) })
}

// graphArguments name a file of a graph.
type graphArguments struct {
	part
	Filename string `json:"filename"`
}

func (d *door) readGraph(ctx context.Context, a graphArguments) (*mcp.Result, error) {
	return a.read(func(w io.Writer) error { return d.copyGraph(ctx, a.Filename, w) })
}

// nodeArguments name a node of a graph.
type nodeArguments struct {
	part
	RepoID string `json:"repo_id"`
	NodeID string `json:"node_id"`
}

func (d *door) readNode(ctx context.Context, a nodeArguments) (*mcp.Result, error) {
	return a.read(func(w io.Writer) error { return d.copyNode(ctx, a.RepoID, a.NodeID, w) })
}

// window keeps the characters of a text from offset on, at most limit, and counts all characters. A byte that is not
// UTF-8 counts as one character and becomes U+FFFD.
type window struct {
	offset, limit int
	total         int // number of characters so far
	kept          strings.Builder
	rest          []byte // the beginning of an incomplete character
}

// Write adds the next part of the text, which may end within a character.
func (w *window) Write(p []byte) (int, error) {
	n := len(p)
	if len(w.rest) > 0 {
		p = append(w.rest, p...)
	}
	for len(p) > 0 && utf8.FullRune(p) {
		r, size := utf8.DecodeRune(p)
		w.take(r)
		p = p[size:]
	}
	w.rest = append([]byte(nil), p...)
	return n, nil
}

// take counts a character, and keeps it if it is in the part.
func (w *window) take(r rune) {
	if w.total >= w.offset && w.total-w.offset < w.limit {
		w.kept.WriteRune(r)
	}
	w.total++
}

// end returns the result. It must be called after the last Write.
func (w *window) end() text {
	for range w.rest {
		w.take(utf8.RuneError)
	}
	w.rest = nil
	return text{Content: w.kept.String(), Truncated: w.total-w.offset > w.limit, TotalChars: w.total}
}

// processing is the content of a file of a run that has not ended, as in the earlier server.
const processing = "Processing..."

// text is the result of the reading tools.
type text struct {
	Content string `json:"content"`
	// Truncated says that more follows: the next part begins at offset plus the number of characters in Content.
	Truncated bool `json:"truncated"`
	// TotalChars is the number of characters of the whole text.
	TotalChars int `json:"total_chars"`
	// Status is processing if the run has not ended, so that Content is not the file's. It is omitted otherwise.
	Status messages.Status `json:"status,omitempty"`
}

// textSchema is the JSON Schema of a part of a text.
const textSchema = `{"type":"object","required":["content","truncated","total_chars"],"properties":{` +
	`"content":{"type":"string"},"truncated":{"type":"boolean"},"total_chars":{"type":"integer"},"status":{"type":"string"}}}`
