package lmstxt

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

const windowArguments = `"offset":{"type":"integer","minimum":0,"default":0,"description":"the first character to ` +
	`give, from 0"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":100000,"default":10000,"description":"the most characters to ` +
	`give"}`

const defaultLimit = 10_000

func (d *door) addReaders() {
	mcp.AddTool(d.Server, mcp.Tool{Name: "lmstxt_read_artifact", Title: "Read a file of a run",
		Description: "Reads a part of what a run that has ended wrote, or of its log: of the run of run_id, or of " +
			"the last one " +
			"for repo_url into output_dir that wrote it. Use it page by page for big files.",
		Input: mcp.Object([]string{"artifact_name"},
			`"artifact_name":{"enum":["llms.txt","llms-full.txt","llms-ctx.txt","llms.json","repo.graph.json",`+
				`"repo.force.json",`+
				`"trace.json","run.log","run.events.jsonl"],"description":"which file; run.log has the run's `+
				`messages, `+
				`run.events.jsonl its events, and trace.json is never there"}`,
			`"run_id":{"type":["string","null"],"default":null,"description":"the run; or give repo_url"}`,
			`"repo_url":{"type":["string","null"],"default":null,"description":"the repository, as it was generated `+
				`from"}`,
			`"output_dir":{"type":"string","default":"./artifacts","description":"with repo_url: where it was `+
				`written to"}`,
			windowArguments),
		Output: json.RawMessage(textSchema), ReadOnly: true, Idempotent: true}, d.readArtifact)
	mcp.AddTool(d.Server, mcp.Tool{Name: "lmstxt_read_graph_artifact", Title: "Read a graph file",
		Description: "Reads a part of a file of a repository's graph, as lmstxt_list_graph_artifacts names it.",
		Input: mcp.Object([]string{"filename"},
			`"filename":{"type":"string","minLength":1,"description":"the file, relative to your folder on the `+
				`server"}`, windowArguments),
		Output: json.RawMessage(textSchema), ReadOnly: true, Idempotent: true}, d.readGraph)
	mcp.AddTool(d.Server, mcp.Tool{Name: "lmstxt_read_repo_graph_node", Title: "Read a node's page",
		Description: "Reads a part of the page of one package of a repository's graph. The ids of the nodes are in " +
			"repo.graph.json.",
		Input: mcp.Object([]string{"repo_id", "node_id"},
			`"repo_id":{"type":"string","minLength":1,"description":"the repository: owner--repo, owner/repo or `+
				`owner__repo"}`,
			`"node_id":{"type":"string","minLength":1,"description":"the node's id"}`, windowArguments),
		Output: json.RawMessage(textSchema), ReadOnly: true, Idempotent: true}, d.readNode)
}

// part is which characters are asked for.
type part struct {
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

func (p part) window() *window {
	w := &window{offset: p.Offset, limit: p.Limit}
	if w.limit == 0 {
		w.limit = defaultLimit
	}
	return w
}

type readArguments struct {
	part
	RunID        messages.RunID `json:"run_id"`
	RepoURL      string         `json:"repo_url"`
	OutputDir    string         `json:"output_dir"`
	ArtifactName string         `json:"artifact_name"`
}

func (d *door) readArtifact(ctx context.Context, a readArguments) (*protocol.CallToolResult, error) {
	w := a.window()
	err := d.copyArtifact(ctx, a, w)
	if err != nil {
		return nil, err
	}
	return mcp.Structured(w.end())
}

func (d *door) copyArtifact(ctx context.Context, a readArguments, w io.Writer) error {
	if a.RunID == "" && a.RepoURL == "" {
		return invalid("name the run with run_id, or its repository with repo_url")
	}
	if a.RunID != "" {
		state, err := d.run(ctx, a.RunID)
		if err != nil {
			return err
		}
		return d.copyFrom(ctx, state, a.ArtifactName, w)
	}
	out, err := local(a.OutputDir)
	if err != nil {
		return err
	}
	base, err := d.absolute(ctx)
	if err != nil {
		return err
	}
	runs, err := d.runsOf(ctx, a.RepoURL, filepath.Join(base, filepath.FromSlash(out)))
	if err != nil {
		return err
	}
	for _, state := range runs {
		if !state.Status.IsEnded() || isLog(a.ArtifactName) || has(state, a.ArtifactName) {
			return d.copyFrom(ctx, state, a.ArtifactName, w)
		}
	}
	return d.copyLeft(ctx, out, a, w)
}

func has(state messages.State, name string) bool {
	return slices.ContainsFunc(state.Artifacts, func(a messages.Artifact) bool { return a.Name == name && !a.Partial })
}

// copyFrom copies what the run wrote, or its log, once it has ended.
func (d *door) copyFrom(ctx context.Context, state messages.State, name string, w io.Writer) error {
	switch {
	case !state.Status.IsEnded():
		e := messages.Errorf(messages.CodeUnavailable,
			"run %s is %s, so there is no %s yet; wait for its end with run_wait", state.RunID, state.Status, name)
		e.Retryable = true
		return e
	case isLog(name):
		return d.copyLog(ctx, state, name, w)
	case !has(state, name):
		return messages.Errorf(messages.CodeNotFound, "run %s, which is %s, has no "+
			"%s%s", state.RunID, state.Status, name,
			names(state))
	}
	file, _, err := d.OpenArtifact(ctx, state, name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

func names(state messages.State) string {
	var all []string
	for _, a := range state.Artifacts {
		if !a.Partial && !strings.Contains(a.Name, "/") {
			all = append(all, a.Name)
		}
	}
	if len(all) == 0 {
		return "; it wrote nothing"
	}
	return "; it has " + strings.Join(all, ", ")
}

// copyLeft copies what a run wrote that nobody remembers.
func (d *door) copyLeft(ctx context.Context, out string, a readArguments, w io.Writer) error {
	for _, key := range spellings(a.RepoURL) {
		host, ok := strings.CutPrefix(key, "//")
		if !ok || isLog(a.ArtifactName) {
			continue
		}
		_, dir, _ := strings.Cut(host, "/")
		for _, name := range places(dir, a.ArtifactName) {
			if d.copyFile(ctx, path.Join(out, name), w) == nil {
				return nil
			}
		}
	}
	return messages.Errorf(messages.CodeNotFound, "no run for %s wrote %s there; generate it "+
		"first", a.RepoURL, a.ArtifactName)
}

// copyFile copies a file below the caller's folder. No name leads out of it, and no link.
func (d *door) copyFile(ctx context.Context, name string, w io.Writer) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return invalid("%s is not below your folder on the server", name)
	}
	root, err := d.root(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := openRegular(root, filepath.FromSlash(name))
	if err != nil {
		return messages.Errorf(messages.CodeNotFound, "there is no file %s", name)
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

func openRegular(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, os.ErrNotExist
	}
	return root.Open(name)
}

type graphArguments struct {
	part
	Filename string `json:"filename"`
}

func (d *door) readGraph(ctx context.Context, a graphArguments) (*protocol.CallToolResult, error) {
	w := a.window()
	if err := d.copyGraph(ctx, a.Filename, w); err != nil {
		return nil, err
	}
	return mcp.Structured(w.end())
}

func (d *door) copyGraph(ctx context.Context, name string, w io.Writer) error {
	if !isGraph(name) {
		return invalid("%s is no file of a graph; lmstxt_list_graph_artifacts lists them", name)
	}
	return d.copyFile(ctx, name, w)
}

type nodeArguments struct {
	part
	RepoID string `json:"repo_id"`
	NodeID string `json:"node_id"`
}

func (d *door) readNode(ctx context.Context, a nodeArguments) (*protocol.CallToolResult, error) {
	w := a.window()
	if err := d.copyNode(ctx, a.RepoID, a.NodeID, w); err != nil {
		return nil, err
	}
	return mcp.Structured(w.end())
}

func (d *door) copyNode(ctx context.Context, repo, node string, w io.Writer) error {
	if strings.ContainsAny(node, `/\`) {
		return invalid("%s is no node's id; repo.graph.json has them", node)
	}
	for _, dir := range folders(repo) {
		for _, name := range places(dir, "nodes/"+node+".md") {
			if err := d.copyFile(ctx, name, w); messages.CodeOf(err) != messages.CodeNotFound {
				return err
			}
		}
	}
	return messages.Errorf(messages.CodeNotFound, "there is no page of the node %s of %s; generate the graph "+
		"first", node, repo)
}

// folders are those that an id of a repository may mean. Either name may have the sign in it that joins them.
func folders(repo string) []string {
	if strings.Contains(repo, "/") {
		return []string{repo}
	}
	var all []string
	for _, sign := range []string{"--", "__"} {
		for i := 1; i < len(repo)-len(sign); i++ {
			if rest, ok := strings.CutPrefix(repo[i:], sign); ok {
				all = append(all, repo[:i]+"/"+rest)
			}
		}
	}
	return all
}
