package lmstxt

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

const (
	generateTool = "generate"
	generateJob  = "generate"
)

// Arguments are those of the tool generate. Zero values are the defaults of the job.
type Arguments struct {
	Repository string `json:"repository"`
	Subfolder  string `json:"subfolder,omitempty"`
	// Out is below the caller's folder; "" is that folder.
	Out          string `json:"out,omitempty"`
	Full         string `json:"full,omitempty"`
	Ctx          bool   `json:"ctx,omitempty"`
	Graph        bool   `json:"graph,omitempty"`
	Format       int    `json:"format,omitempty"`
	LinkStyle    string `json:"link_style,omitempty"`
	LinkBase     string `json:"link_base,omitempty"`
	SizeBudget   int64  `json:"size_budget,omitempty"`
	Model        string `json:"model,omitempty"`
	RequireModel bool   `json:"require_model,omitempty"`
	NoCache      bool   `json:"no_cache,omitempty"`
}

// GenerateTool is the job generate as a tool. prepare makes the job's input of [Arguments], whose Out is local by then.
func GenerateTool(prepare func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error)) mcp.JobTool {
	return mcp.JobTool{
		Job: generateJob, Name: generateTool, Title: "Generate llms.txt",
		Description: "Reads a repository and writes llms.txt, an index of what matters in it with links and notes, " +
			"llms.json, and where asked llms-full.txt (the linked files), llms-ctx.txt (the same as XML) and a graph " +
			"of its packages. Use it to get to know a repository, or to give one an llms.txt. The result links to " +
			"the files, which are resources. It takes seconds without a model; for big repositories use run_start.",
		Input: generateInput(), Output: json.RawMessage(resultSchema), Idempotent: true, OpenWorld: true,
		Content: said,
		Prepare: func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
			var a Arguments
			if err := json.Unmarshal(arguments, &a); err != nil {
				return nil, invalid("the arguments are no good: %v", err)
			}
			out, err := local(a.Out)
			if err != nil {
				return nil, err
			}
			if a.Out = out; a.Subfolder != "" && !filepath.IsLocal(filepath.FromSlash(a.Subfolder)) {
				return nil, invalid("the subfolder %s leads out of the repository", a.Subfolder)
			}
			if arguments, err = json.Marshal(a); err != nil {
				return nil, err
			}
			return prepare(ctx, arguments)
		},
	}
}

func generateInput() json.RawMessage {
	return mcp.Object([]string{"repository"},
		`"repository":{"type":"string","minLength":1,"description":"a folder or an archive on the server's machine, `+
			`owner/repo on GitHub, or the https URL of a Git repository or an archive; .../tree/<ref>/<folder> is a `+
			`part `+
			`of one"}`,
		`"subfolder":{"type":"string","description":"only this folder of the repository"}`,
		`"out":{"type":"string","default":"","description":"where to write, relative to your folder on the server; `+
			`the files go to <owner>/<repo>/ below it"}`,
		`"full":{"enum":["selected","all","none"],"default":"selected","description":"what llms-full.txt holds: the `+
			`linked files, every text file, or it is not written"}`,
		`"ctx":{"type":"boolean","default":false,"description":"write llms-ctx.txt"}`,
		`"graph":{"type":"boolean","default":false,"description":"write the graph of packages and what they import: `+
			`repo.graph.json, repo.force.json and a page for each package"}`,
		`"format":{"enum":[1,2],"default":2,"description":"the version of the llms.txt format"}`,
		`"link_style":{"enum":["blob","raw"],"default":"blob","description":"links lead to the host's pages or to `+
			`the bare files"}`,
		`"link_base":{"type":"string","description":"the URL that links begin with where the repository does not say `+
			`its own"}`,
		`"size_budget":{"type":"integer","minimum":2048,"description":"the most bytes of any one text file; the `+
			`least important is dropped"}`,
		`"model":{"type":"string","maxLength":256,"description":"the language model that describes the repository, `+
			`auto for the one that is loaded; none if left out, which is fast and needs no network"}`,
		`"require_model":{"type":"boolean","default":false,"description":"fail where the model does; otherwise the `+
			`files say what can be said without it, and the result is degraded"}`,
		`"no_cache":{"type":"boolean","default":false,"description":"neither take the result from the cache nor keep `+
			`it there"}`)
}

const resultSchema = `{"type":"object","required":["title","folder","files","links","symbols"],"properties":{` +
	`"title":{"type":"string"},"summary":{"type":"string"},` +
	`"folder":{"type":"string","description":"where the files are, relative to out"},` +
	`"files":{"type":"integer","description":"how many files were read"},` +
	`"links":{"type":"integer","description":"how many llms.txt links to"},` +
	`"symbols":{"type":"integer","description":"how many exported names llms.json lists"},` +
	`"dropped":{"type":"integer","description":"what the size budget had no room for"},"commit":{"type":"string"},` +
	`"remote":{"type":"string"},"cached":{"type":"boolean","description":"the files are those of an earlier run"},` +
	`"model":{"type":"string","description":"the one that answered, or was asked"},` +
	`"degraded":{"type":"boolean","description":"the model failed, and the files say what can be said without one"},` +
	`"degraded_cause":{"type":"string"}}}`

// result is that of the job.
type result struct {
	Title   string         `json:"title"`
	Summary string         `json:"summary"`
	Folder  string         `json:"folder"`
	Files   int            `json:"files"`
	Links   int            `json:"links"`
	Cause   messages.Cause `json:"degraded_cause"`
}

// said says in a few lines what the run came to.
func said(ended messages.State) []protocol.Content {
	if ended.End == nil || ended.Status != messages.Completed {
		return []protocol.Content{protocol.NewTextContent(ending(ended))}
	}
	var r result
	_ = json.Unmarshal(ended.End.Result, &r) // what is not there is not said
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Title, r.Summary)
	fmt.Fprintf(&b, "llms.txt links to %d of the %d files. Run %s wrote, in "+
		"%s:\n", r.Links, r.Files, ended.RunID, r.Folder)
	for i, a := range ended.Artifacts {
		if i == saidArtifacts {
			fmt.Fprintf(&b, "and %d more\n", len(ended.Artifacts)-i)
			break
		}
		fmt.Fprintf(&b, "- %s (%d bytes): %s\n", path.Base(a.Path), a.Bytes, mcp.ArtifactURI(ended.RunID, a.Name))
	}
	if ended.End.Degraded {
		fmt.Fprintf(&b, "The model failed (%s): this is what can be said without one.\n", r.Cause)
	}
	return []protocol.Content{protocol.NewTextContent(b.String())}
}

// saidArtifacts is how many artifacts are named in a text; the links name all.
const saidArtifacts = 8

// ending says why a run wrote nothing.
func ending(s messages.State) string {
	if s.End != nil && s.End.Error != nil {
		return fmt.Sprintf("generate %s, %s: %s (run %s)", s.Status, s.End.Cause, s.End.Error.Message, s.RunID)
	}
	return fmt.Sprintf("generate %s (run %s)", s.Status, s.RunID)
}

// local is a folder as the earlier server named them: relative to its root, which "./artifacts" is.
func local(dir string) (string, error) {
	clean := path.Clean(filepath.ToSlash(dir))
	if dir == "" || clean == "artifacts" {
		return "", nil
	}
	clean = strings.TrimPrefix(clean, "artifacts/")
	if clean == "." {
		return "", nil
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", invalid("the folder %s is not below your folder on the server; give a relative path without ..", dir)
	}
	return clean, nil
}

func invalid(format string, arguments ...any) error {
	return messages.Errorf(messages.Code(messages.CauseInvalidInput), format, arguments...)
}
