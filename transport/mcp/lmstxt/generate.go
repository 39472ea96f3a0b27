package lmstxt

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	Out string `json:"out,omitempty"`
	// Layout is the job's. Callers of generate have no say in it.
	Layout string `json:"layout,omitempty"`
	Full   string `json:"full,omitempty"`
	Ctx    bool   `json:"ctx,omitempty"`
	Graph  bool   `json:"graph,omitempty"`
	// Format is 1 or 2; strict clients send it as a text.
	Format       json.Number `json:"format,omitempty"`
	LinkStyle    string      `json:"link_style,omitempty"`
	LinkBase     string      `json:"link_base,omitempty"`
	Ref          string      `json:"ref,omitempty"`
	SizeBudget   int64       `json:"size_budget,omitempty"`
	TokenBudget  int64       `json:"token_budget,omitempty"`
	BudgetFail   bool        `json:"budget_fail,omitempty"`
	CountTokens  bool        `json:"count_tokens,omitempty"`
	Secrets      string      `json:"secrets,omitempty"`
	Fresh        bool        `json:"fresh,omitempty"`
	Model        string      `json:"model,omitempty"`
	RequireModel bool        `json:"require_model,omitempty"`
	NoCache      bool        `json:"no_cache,omitempty"`
}

// ForPrograms are the properties of generate's input that programs need. Models do not: a repository that a model has
// read could tell it to keep secrets.
var ForPrograms = []string{
	`"secrets":{"type":"string","enum":["redact","fail","off"],"default":"redact","description":"what happens to ` +
		`secrets in the text of files"}`,
	`"budget_fail":{"type":"boolean","description":"fail if something is over a budget"}`,
}

// GenerateTool is the job generate as a tool. prepare makes the job's input of [Arguments], whose Out is local by
// then. More are properties of its input.
func GenerateTool(
	prepare func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error), more ...string,
) mcp.JobTool {
	return mcp.JobTool{
		Job: generateJob, Name: generateTool, Title: "Generate llms.txt",
		Description: "Writes llms.txt, an index of what matters in a repository, with llms-full.txt (the linked " +
			"files) and llms.json. Use it to get to know a repository, or to give it an llms.txt. Takes seconds " +
			"without a model; start it with run_start for a big repository.",
		Input: generateInput(more), Output: json.RawMessage(resultSchema), Idempotent: true, OpenWorld: true,
		Say: said,
		Prepare: func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
			var a Arguments
			if err := json.Unmarshal(arguments, &a); err != nil {
				return nil, messages.InvalidInput("the arguments are no good: %v", err)
			}
			out, err := local(a.Out)
			if err != nil {
				return nil, err
			}
			a.Layout, _ = ctx.Value(layoutKey{}).(string)
			if a.Out = out; a.Subfolder != "" && !filepath.IsLocal(filepath.FromSlash(a.Subfolder)) {
				return nil, messages.InvalidInput("the subfolder %s leads out of the repository", a.Subfolder)
			}
			if arguments, err = json.Marshal(a); err != nil {
				return nil, err
			}
			return prepare(ctx, arguments)
		},
	}
}

// layoutKey is for the layout of the tools lmstxt_* in a context: files are called <name>-llms.txt, as they always
// were.
type layoutKey struct{}

func generateInput(more []string) json.RawMessage {
	return mcp.Object([]string{"repository"}, append(slices.Clone(more),
		`"repository":{"type":"string","minLength":1,"description":"owner/repo on GitHub, https URL of Git `+
			`(.../tree/<ref>/<folder> is a part) or an archive, or folder of the server's"}`,
		`"subfolder":{"type":"string","description":"only this folder"}`,
		`"out":{"type":"string","description":"folder below yours on the server, for <host>/<owner>/<repo>/"}`,
		`"full":{"type":"string","enum":["selected","all","none"],"default":"selected","description":"files in `+
			`llms-full.txt"}`,
		`"ctx":{"type":"boolean","description":"llms-ctx.txt (XML) too"}`,
		`"graph":{"type":"boolean","description":"graph of packages too"}`,
		`"format":{"type":"string","enum":["2","1"],"description":"version of llms.txt"}`,
		`"link_style":{"type":"string","enum":["blob","raw"],"description":"page or bare file"}`,
		`"ref":{"type":"string","enum":["branch","commit","relative"],"description":"target of links"}`,
		`"link_base":{"type":"string","description":"base URL for links without a remote"}`,
		`"size_budget":{"type":"integer","minimum":2048,"description":"most bytes of a file"}`,
		`"token_budget":{"type":"integer","description":"most tokens of a file"}`,
		`"count_tokens":{"type":"boolean","description":"of each file"}`,
		`"fresh":{"type":"boolean","description":"ignore its own llms.txt"}`,
		`"model":{"type":"string","maxLength":256,"description":"model that describes it, or auto; default none"}`,
		`"require_model":{"type":"boolean","description":"fail without it"}`,
		`"no_cache":{"type":"boolean","description":"skip the cache"}`)...)
}

const resultSchema = `{"type":"object","required":["title","folder","files","links","symbols"],"properties":{` +
	`"title":{"type":"string"},"summary":{"type":"string"},` +
	`"folder":{"type":"string","description":"relative to out"},` +
	`"files":{"type":"integer"},"links":{"type":"integer"},"symbols":{"type":"integer"}}}`

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
func said(ended messages.State) string {
	if ended.End == nil || ended.Status != messages.Completed {
		return ending(ended)
	}
	var r result
	_ = json.Unmarshal(ended.End.Result, &r) // what is not there is not said
	var b strings.Builder
	b.WriteString(r.Title)
	if r.Summary != "" {
		b.WriteString(": " + r.Summary)
	}
	fmt.Fprintf(&b, "\nllms.txt links to %d of the %d files. Run %s wrote in %s: %s.\n", r.Links, r.Files, ended.RunID,
		r.Folder, mcp.Files(ended))
	if ended.End.Degraded {
		fmt.Fprintf(&b, "The model failed (%s): this is what can be said without one.\n", r.Cause)
	}
	b.WriteString("Read a file with run_read {run_id, name}.")
	return b.String()
}

// isPage reports whether the artifact is the page of one package. There may be thousands of them.
func isPage(a messages.Artifact) bool { return strings.Contains(a.Name, "/") }

// ending says why a run wrote nothing.
func ending(s messages.State) string {
	if s.End != nil && s.End.Error != nil {
		return fmt.Sprintf("generate %s, %s: %s (run %s)", s.Status, s.End.Cause, s.End.Error.Message, s.RunID)
	}
	return fmt.Sprintf("generate %s (run %s)", s.Status, s.RunID)
}

// rootName is how the earlier server named its root.
const rootName = "artifacts"

// local is a folder as the earlier server named them: relative to its root, which "./artifacts" is.
func local(dir string) (string, error) {
	clean := path.Clean(filepath.ToSlash(dir))
	if dir == "" || clean == rootName {
		return "", nil
	}
	clean = strings.TrimPrefix(clean, rootName+"/")
	if clean == "." {
		return "", nil
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", messages.InvalidInput("the folder %s is not below your folder on the server; "+
			"give a relative path without ..", dir)
	}
	return clean, nil
}

// local also knows folders by their whole paths, where callers are told these.
func (d *door) local(dir string) (string, error) {
	if d.shown != "" && filepath.IsAbs(dir) {
		if below, err := filepath.Rel(d.shown, dir); err == nil && filepath.IsLocal(below) {
			return local(path.Join(rootName, filepath.ToSlash(below)))
		}
	}
	return local(dir)
}
