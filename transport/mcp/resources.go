package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const (
	// readers is how many resources are read at a time.
	readers = 16
	// longContents is how many bytes of a resource are too many to be given to any number of clients that take their
	// time.
	longContents = 64 << 10
)

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
	hooks := s.mcp.GetHooks()
	hooks.AddAfterListResources(s.listArtifacts)
	hooks.AddOnError(s.refused)
	return errors.Join(run, events, artifacts)
}

// Resource is a template of resources (RFC 6570), as it is listed.
type Resource struct{ Template, Name, Title, Description, MIMEType string }

// Contents are what a resource holds: a text, or bytes.
type Contents struct {
	MIMEType, Text string
	Blob           []byte
	// Meta goes with them; its names begin with Vendor.
	Meta map[string]any
}

// ErrNoResource says that a URI names nothing.
var ErrNoResource = errors.New("there is no such resource")

// AddResource adds resources that whoever has the scope run:read may read, 16 of all at a time. A messages.Error of
// read is the caller's to see; not_found is a resource that is not there. Errors: invalid_input for a template that
// is none.
func (s *Server) AddResource(r Resource, read func(ctx context.Context, uri string) (Contents, error)) (err error) {
	defer func() {
		if p := recover(); p != nil { // mcp-go reads templates in no other way
			err = messages.InvalidInput("the template %q of the resource %s is no good: %v", r.Template, r.Name, p)
		}
	}()
	t := mcp.NewResourceTemplate(r.Template, r.Name, mcp.WithTemplateDescription(r.Description),
		mcp.WithTemplateMIMEType(r.MIMEType))
	t.Title = r.Title
	s.mcp.AddResourceTemplate(t, s.reading(read))
	s.listed(mcp.MethodNotificationResourcesListChanged)
	return nil
}

func (c Contents) library(uri string) mcp.ResourceContents {
	if c.Blob != nil {
		return mcp.BlobResourceContents{URI: uri, MIMEType: c.MIMEType, Blob: base64.StdEncoding.EncodeToString(c.Blob),
			Meta: c.Meta}
	}
	return mcp.TextResourceContents{URI: uri, MIMEType: c.MIMEType, Text: c.Text, Meta: c.Meta}
}

// readRun reads any run:// resource.
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

// readEvents gives what there is, without waiting for more.
func (s *Server) readEvents(ctx context.Context, u uri, state messages.State) (Contents, error) {
	p, err := newPage(state, json.RawMessage(u.query.Get("after")))
	if err != nil {
		return Contents{}, err
	}
	p.Next.all, p.room, p.whole = false, wholeBytes, true
	if err := s.readPage(ctx, &p, state, 0); err != nil {
		return Contents{}, err
	}
	return Contents{MIMEType: "application/x-ndjson", Text: p.lines(),
		Meta: map[string]any{Vendor + "next": p.Next, Vendor + "done": p.Done}}, nil
}

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
	return r.contents(messages.MediaType(u.name), file)
}

// OpenArtifact opens the run's artifact of the name. Errors: not_found.
func (s *Server) OpenArtifact(ctx context.Context, state messages.State, name string) (
	io.ReadSeekCloser, messages.Artifact, error,
) {
	return s.runs.Artifact(ctx, state, name)
}

// refused makes the error of a prompt or a resource that cannot be had: mcp-go says of all but its own that they are
// internal, with their text, and does not say which resource is not there.
func (s *Server) refused(ctx context.Context, _ any, method mcp.MCPMethod, message any, err error) {
	switch req, reads := message.(*mcp.ReadResourceRequest); {
	case reads:
		s.refuseResource(ctx, req.Params.URI, err)
	case method == mcp.MethodPromptsGet:
		caller.Fail(ctx, err)
	}
}

func (s *Server) refuseResource(ctx context.Context, uri string, err error) {
	x := wire.From(ctx)
	e, coded := errors.AsType[*messages.Error](err)
	switch {
	case errors.Is(err, ErrNoResource), errors.Is(err, server.ErrResourceNotFound):
		x.Fail(caller.NoResource(x, uri))
	case coded && e.Code == messages.CodeNotFound:
		missing := caller.NoResource(x, uri)
		missing.Message += ": " + e.Message
		x.Fail(missing)
	case coded:
		caller.Fail(ctx, err)
	case ctx.Err() == nil:
		s.config.Log.Error("read resource", zap.String("uri", uri), zap.Error(err))
		x.Fail(&wire.Error{Code: mcp.INTERNAL_ERROR, Message: visibleError(err).Message})
	}
}

// reading is what every reader of a resource is behind: leave, and a bound on what all of them take of the memory. A
// few read at a time, and what they read is counted until its client has it.
func (s *Server) reading(read func(ctx context.Context, uri string) (Contents, error)) server.ResourceTemplateHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		if err := caller.Require(ctx, auth.ReadRuns); err != nil {
			return nil, err
		}
		select {
		case s.readers <- struct{}{}:
			defer func() { <-s.readers }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		contents, err := read(ctx, req.Params.URI)
		if err != nil {
			return nil, err
		}
		n := int64(len(contents.Text) + base64.StdEncoding.EncodedLen(len(contents.Blob)))
		if n > longContents && !wire.From(ctx).Hold(n) {
			return nil, messages.Errorf(messages.CauseLimitExceeded,
				"too many long resources are being read; try again in a moment, or read a part of %d bytes", longContents)
		}
		return []mcp.ResourceContents{contents.library(req.Params.URI)}, nil
	}
}
