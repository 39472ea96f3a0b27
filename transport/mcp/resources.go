package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

const (
	// readers is the maximum number of resources that are read at a time.
	readers = 16
	// longContents is the size, in bytes, from which on a resource counts against the memory for answers, because a
	// slow client holds it.
	longContents = 64 << 10
)

// addResources adds the resources of runs, and the hooks that list artifacts and set errors.
func (s *Server) addResources() error {
	run := s.AddResource(Resource{Template: "run://{run_id}", Name: "run", Title: "Run", MIMEType: "application/json",
		Description: "What is known of a run of yours: its status, tasks, texts, artifacts and end. Subscribe to it " +
			"to hear when it changes."}, s.readRun)
	events := s.AddResource(Resource{Template: "run://{run_id}/events{?after}", Name: "run-events",
		Title: "Events of a run", MIMEType: "application/x-ndjson",
		Description: "The events of a run past the number after, or from the first, one JSON object a line. Where " +
			"there are too many, _meta says after which to go on."}, s.readRun)
	artifacts := s.AddResource(Resource{Template: "run://{run_id}/artifacts/{+name}{?offset,limit}", Name: "run-artifact",
		Title: "Artifact of a run",
		Description: "A file that a run wrote, whole up to 16 MiB, or the limit bytes from the offset (text is cut " +
			"between characters; _meta says what came)."}, s.readRun)
	var skill error
	if s.ownAll() {
		skill = s.AddResource(Resource{Template: skillURI + "{+file}", Name: "skill", Title: "Skill", MIMEType: "text/markdown",
			Description: "A file of a skill of this server."}, readSkill)
	}
	s.addCard()
	hooks := s.mcp.GetHooks()
	hooks.AddAfterListResources(s.listArtifacts)
	hooks.AddOnError(s.refused)
	return errors.Join(run, events, artifacts, skill)
}

// Resource is a resource template (RFC 6570), with what clients see of it.
type Resource struct{ Template, Name, Title, Description, MIMEType string }

// Contents is the content of a resource: a text, or bytes if Blob is not nil.
type Contents struct {
	MIMEType, Text string
	Blob           []byte
	// Meta is sent as _meta. Its names begin with [vendor].
	Meta map[string]any
}

// ErrNoResource says that the URI names no resource.
var ErrNoResource = errors.New("there is no such resource")

// AddResource adds resources, which callers with the scope run:read can read, at most 16 at a time. read may return a
// *messages.Error for the caller; not_found means that the resource does not exist. Errors: invalid_input for an
// invalid template.
func (s *Server) AddResource(r Resource, read func(ctx context.Context, uri string) (Contents, error)) (err error) {
	defer func() {
		if p := recover(); p != nil { // mcp-go panics on invalid templates
			err = messages.InvalidInput("the template %q of the resource %s is not valid: %v", r.Template, r.Name, p)
		}
	}()
	t := mcp.NewResourceTemplate(r.Template, r.Name, mcp.WithTemplateDescription(r.Description), mcp.WithTemplateMIMEType(r.MIMEType))
	t.Title = r.Title
	s.templates.Store(r.Template, true)
	s.mcp.AddResourceTemplate(t, s.reading(read))
	s.listed(mcp.MethodNotificationResourcesListChanged)
	return nil
}

// readRun reads a run:// resource.
func (s *Server) readRun(ctx context.Context, name string) (Contents, error) {
	u, ok := parseURI(name)
	if !ok {
		return Contents{}, ErrNoResource
	}
	state, err := s.Run(ctx, u.run)
	if err != nil {
		return Contents{}, err
	}
	switch u.part {
	case "events":
		return s.readEvents(ctx, u, state)
	case "artifacts":
		return s.readArtifact(ctx, u, state)
	}
	data, err := json.Marshal(state)
	return Contents{MIMEType: "application/json", Text: string(data)}, err
}

// readEvents returns the existing events without waiting for more.
func (s *Server) readEvents(ctx context.Context, u uri, state messages.State) (Contents, error) {
	p, err := newPage(state, json.RawMessage(u.query.Get("after")))
	if err != nil {
		return Contents{}, err
	}
	p.Next.all, p.room, p.whole = false, wholeBytes, true
	if err := s.readPage(ctx, &p, state, 0); err != nil {
		return Contents{}, err
	}
	var lines strings.Builder
	for _, e := range p.Events {
		lines.Write(e)
		lines.WriteByte('\n')
	}
	return Contents{MIMEType: "application/x-ndjson", Text: lines.String(),
		Meta: map[string]any{vendor + "next": p.Next, vendor + "done": p.Done}}, nil
}

// readArtifact returns a part of an artifact.
func (s *Server) readArtifact(ctx context.Context, u uri, state messages.State) (Contents, error) {
	r, err := u.span()
	if err != nil {
		return Contents{}, err
	}
	file, _, err := s.OpenArtifact(ctx, state, u.name)
	if err != nil {
		return Contents{}, err
	}
	defer file.Close()
	c, place, err := r.read(messages.MediaType(u.name), file)
	if r.asked {
		c.Meta = map[string]any{vendor + "range": place}
	}
	return c, err
}

// OpenArtifact opens an artifact of the run. Errors: not_found.
func (s *Server) OpenArtifact(ctx context.Context, state messages.State, name string) (io.ReadSeekCloser, messages.Artifact, error) {
	return s.runs.Artifact(ctx, state, name)
}

// refused sets the error of a prompt, completion or resource that cannot be returned. mcp-go would answer most errors as internal
// errors with their text, and would not name the missing resource.
func (s *Server) refused(ctx context.Context, _ any, method mcp.MCPMethod, message any, err error) {
	x := wire.From(ctx)
	req, reads := message.(*mcp.ReadResourceRequest)
	e, coded := errors.AsType[*messages.Error](err)
	switch {
	case method == mcp.MethodPromptsGet, method == mcp.MethodCompletionComplete:
		wire.Fail(ctx, err)
	case !reads:
	case errors.Is(err, ErrNoResource), errors.Is(err, server.ErrResourceNotFound):
		x.Fail(wire.NoResource(x, req.Params.URI))
	case coded && e.Code == messages.CodeNotFound:
		missing := wire.NoResource(x, req.Params.URI)
		missing.Message += ": " + e.Message
		x.Fail(missing)
	case coded:
		wire.Fail(ctx, err)
	case ctx.Err() == nil:
		s.config.Log.Error("read resource", zap.String("uri", req.Params.URI), zap.Error(err))
		x.Fail(&wire.Error{Code: mcp.INTERNAL_ERROR, Message: visibleError(err).Message})
	}
}

// reading wraps the reader of a resource: it checks the caller's scope, and limits the memory that all readers take.
// Only a few may read at a time, and a long content counts until its client has received it.
func (s *Server) reading(read func(ctx context.Context, uri string) (Contents, error)) server.ResourceTemplateHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		if err := wire.Require(ctx, auth.ReadRuns); err != nil {
			return nil, err
		}
		select {
		case s.readers <- struct{}{}:
			defer func() { <-s.readers }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		c, err := read(ctx, req.Params.URI)
		if err != nil {
			return nil, err
		}
		n := int64(len(c.Text) + base64.StdEncoding.EncodedLen(len(c.Blob)))
		if n > longContents && !wire.From(ctx).Hold(n) {
			return nil, messages.LimitExceeded("too many long resources are being read; try again in a moment, or read a part of %d bytes", longContents)
		}
		if c.Blob != nil {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: req.Params.URI, MIMEType: c.MIMEType, Meta: c.Meta,
				Blob: base64.StdEncoding.EncodeToString(c.Blob)}}, nil
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: c.MIMEType, Text: c.Text, Meta: c.Meta}}, nil
	}
}

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
