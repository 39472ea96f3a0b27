package lmstxt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// Schemas of arguments that several tools share.
const (
	outputArgument = `"output_dir":{"type":"string","default":"./artifacts","description":"where to write: ` +
		`./artifacts is your folder on the server"}`
	repositoryArgument = `"repo_url":{"type":"string","minLength":1,"description":"a URL, owner/repo on GitHub, or a ` +
		`folder of the server's"}`
	earlierArgument = `"run_id":{"type":"string","description":"an earlier run for it, to go on with its options and ` +
		`folder"}`
)

// variant is a generator. It becomes two tools: one returns at once, the other streams.
type variant[A any] struct {
	name, title, description string
	required, properties     []string // of its input schema
	arguments                func(d *door, ctx context.Context, a A) (generation, error)
}

// generation is what a generator starts. Its folder, out, is relative to the root.
type generation struct {
	input
	more map[string]any // further members of the job's input
	// earlier is the run that the caller named. The new run's files can be read under its id too.
	earlier messages.RunID
}

// earlierLabel is the label of a run that holds the earlier run, see generation.
const earlierLabel = "lmstxt.run_id"

func (d *door) addGenerators() {
	addVariant(d, variant[txtArguments]{name: "lmstxt_generate_llms_txt", title: "Generate llms.txt, as lmstxt-mcp",
		description: "Writes llms.txt and llms.json for a repository",
		required:    []string{"url"},
		properties: []string{
			`"url":{"type":"string","minLength":1,"description":"a URL, owner/repo on GitHub, or a folder of the ` +
				`server's"}`,
			outputArgument,
			`"cache_lm":{"type":"boolean","default":true,"description":"use the cache"}`,
			`"generate_graph":{"type":"boolean","description":"write the graph of packages too"}`,
			`"verbose_budget":{"type":"boolean","default":false,"description":"without effect"}`,
			`"enable_session_memory":{"type":"boolean","description":"without effect"}`},
		arguments: (*door).txt})
	addVariant(d, variant[fullArguments]{name: "lmstxt_generate_llms_full", title: "Generate llms-full.txt, as lmstxt-mcp",
		description: "Writes llms-full.txt, the files that llms.txt links to, and llms.txt",
		required:    []string{"repo_url"},
		properties:  []string{repositoryArgument, earlierArgument, outputArgument},
		arguments:   (*door).full})
	addVariant(d, variant[fullArguments]{name: "lmstxt_generate_llms_ctx", title: "Generate llms-ctx.txt, as lmstxt-mcp",
		description: "Writes llms-ctx.txt, the files that llms.txt links to as they are, and llms.txt; name the " +
			"repository, or a run",
		properties: []string{earlierArgument,
			`"repo_url":{"type":"string","description":"the repository, if not the run's"}`, outputArgument},
		arguments: (*door).ctx})
}

// addVariant adds a generator twice: as a tool that answers at once, and as one that streams.
func addVariant[A any](d *door, v variant[A]) {
	tool := mcp.Tool{Name: v.name, Title: v.title, Input: mcp.Object(v.required, v.properties...), OpenWorld: true}
	tool.Output = json.RawMessage(recordSchema)
	tool.Description = v.description + ". Answers at once with the run's record: wait with run_wait (for started_run_id, if the " +
		"record has it), then read with lmstxt_read_artifact."
	addTool(d, tool, func(ctx context.Context, a A) (*mcp.Result, error) {
		state, err := v.start(ctx, d, a)
		if err != nil {
			return nil, err
		}
		return mcp.Structured(d.recordOf(state))
	})
	tool.Name += "_stream"
	tool.Input = mcp.Object(v.required, append(slices.Clone(v.properties), mcp.StreamArguments)...)
	tool.Title += ", streamed"
	tool.Description = v.description + ". Streams the run's events where the call has a progress token, and answers when " +
		"it has ended. Leaving or cancelling the call does not end the run: run_cancel does."
	addTool(d, tool, func(ctx context.Context, a streamed[A]) (*mcp.Result, error) {
		err := a.Check()
		if err != nil {
			return nil, err
		}
		state, err := v.start(ctx, d, a.arguments)
		if err != nil {
			return nil, err
		}
		return d.stream(a.In(ctx), state.RunID)
	})
}

// streamed are the arguments of a generator that streams.
type streamed[A any] struct {
	mcp.StreamOptions
	arguments A
}

// UnmarshalJSON reads both.
func (s *streamed[A]) UnmarshalJSON(text []byte) error {
	return errors.Join(json.Unmarshal(text, &s.StreamOptions), json.Unmarshal(text, &s.arguments))
}

// start starts the job with the arguments in this server's form.
func (v variant[A]) start(ctx context.Context, d *door, a A) (messages.State, error) {
	request, err := v.arguments(d, ctx, a)
	if err != nil {
		return messages.State{}, err
	}
	members := request.more
	members["repository"], members["out"], members["layout"] = request.Repository, request.Out, "lmstxt"
	arguments, err := json.Marshal(members)
	if err != nil {
		return messages.State{}, err
	}
	options := mcp.StartOptions{Mode: messages.Detached}
	if request.earlier != "" {
		options.Labels = map[string]string{earlierLabel: string(request.earlier)}
	}
	return d.StartJob(ctx, generateTool, arguments, options)
}

// ended returns the answer of a generator that streams.
func (d *door) ended(state messages.State) (*mcp.Result, error) {
	result, err := mcp.Structured(d.recordOf(state))
	if err == nil {
		result.IsError = state.Status != messages.Completed
	}
	return result, err
}

// txtArguments are the arguments of lmstxt_generate_llms_txt.
type txtArguments struct {
	URL           string `json:"url"`
	OutputDir     string `json:"output_dir"`
	CacheLM       *bool  `json:"cache_lm"`
	GenerateGraph bool   `json:"generate_graph"`
}

// txt returns what lmstxt_generate_llms_txt starts.
func (d *door) txt(_ context.Context, a txtArguments) (generation, error) {
	out, err := d.local(a.OutputDir)
	return generation{input: input{a.URL, out}, more: map[string]any{"full": "none", "graph": a.GenerateGraph,
		"no_cache": a.CacheLM != nil && !*a.CacheLM}}, err
}

// fullArguments name a run whose repository to use, or the repository itself.
type fullArguments struct {
	RunID     messages.RunID `json:"run_id"`
	RepoURL   string         `json:"repo_url"`
	OutputDir string         `json:"output_dir"`
}

// full returns what lmstxt_generate_llms_full starts.
func (d *door) full(ctx context.Context, a fullArguments) (generation, error) {
	request, err := d.again(ctx, a)
	request.set("selected", false)
	return request, err
}

// ctx returns what lmstxt_generate_llms_ctx starts.
func (d *door) ctx(ctx context.Context, a fullArguments) (generation, error) {
	if a.RunID == "" && a.RepoURL == "" {
		return generation{}, messages.InvalidInput("name the repository with repo_url, or a run for it with run_id")
	}
	request, err := d.again(ctx, a)
	request.set("none", true)
	return request, err
}

// again returns the input of an earlier run with the same options: the run that the caller named, or else the
// repository's last run in the folder that completed. So llms.txt stays the same. Without an earlier run it uses the
// defaults.
func (d *door) again(ctx context.Context, a fullArguments) (generation, error) {
	if a.RunID != "" {
		return d.continued(ctx, a)
	}
	out, err := d.local(a.OutputDir)
	if err != nil {
		return generation{}, err
	}
	request := generation{input: input{a.RepoURL, out}, more: map[string]any{}}
	for last, err := range d.runsOf(ctx, a.RepoURL, out) {
		if err != nil {
			return request, err
		}
		if !last.Status.IsEnded() || last.Status == messages.Completed {
			request.like(last)
			break
		}
	}
	return request, nil
}

// continued returns the input of the run that the caller named, for the same folder. It ignores the other arguments,
// because many clients send the defaults of all arguments.
func (d *door) continued(ctx context.Context, a fullArguments) (request generation, err error) {
	state, err := d.run(ctx, a.RunID)
	if err != nil {
		return request, err
	}
	in := inputOf(state)
	if a.RepoURL != "" && !d.isOf(a.RepoURL)(in) {
		return request, messages.InvalidInput("run %s is of %s, not of %s", a.RunID, in.Repository, a.RepoURL)
	}
	request.like(state)
	request.Repository, request.Out, request.earlier = in.Repository, in.Out, firstOf(state.RunID, state.Queued.Labels)
	return request, nil
}

// firstOf returns the run that this one was made for, or its own id.
func firstOf(id messages.RunID, labels map[string]string) messages.RunID {
	return cmp.Or(messages.RunID(labels[earlierLabel]), id)
}

// like takes over the options of a run.
func (g *generation) like(state messages.State) {
	g.more = map[string]any{}
	_ = json.Unmarshal(state.Queued.Input, &g.more) // every input of generate has this form
}

// set sets which files the run writes, and allows cached results.
func (g *generation) set(full string, ctx bool) {
	if g.more == nil { // an error occurred before
		return
	}
	g.more["full"], g.more["ctx"] = full, ctx
	delete(g.more, "no_cache")
}
