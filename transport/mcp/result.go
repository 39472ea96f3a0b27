package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// Result is what a tool answers a call. Models read either the text or the structured content: each alone has to do.
type Result struct {
	Text  string
	Links []Link
	// Structured is an object that fits the tool's output schema, or nil.
	Structured any
	// IsError says that the tool did not do what it is for.
	IsError bool
	// Failed says how the call itself failed; nil where it did not.
	Failed *RunError

	terminal *messages.Event // of the run, for callers that follow its events
}

// Link leads to a resource.
type Link struct {
	URI, Name string
	Bytes     int64
	// Partial says that the resource is not whole.
	Partial bool
}

// Structured is a result whose structured content is v, an object, and whose text is the same as JSON.
func Structured(v any) (*Result, error) {
	text, err := Text(v)
	if err != nil {
		return nil, err
	}
	return &Result{Text: text, Structured: json.RawMessage(text)}, nil
}

// Text is v as JSON for models to read: what is in it of XML or HTML stays as it is.
func Text(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Failure is what a tool answers where the call itself failed: an error that says what to do, with the code for
// programs, a RunError, under _meta. It has no structured content: that is what the tool's output schema says, or
// clients refuse the whole answer. What is not a messages.Error is not for the caller to know.
func Failure(err error) *Result {
	said := visibleError(err)
	return &Result{Text: said.Message, IsError: true, Failed: said}
}

// failed is Failure of a call, and logs what the caller must not see.
func (s *Server) failed(ctx context.Context, tool string, err error) *Result {
	switch {
	case messages.CodeOf(err) != "":
	case ctx.Err() != nil: // whoever has only stopped writing may still read
		err = messages.Errorf(messages.CodeUnavailable, "the connection ended, or the call was cancelled, before %s was "+
			"answered; keep standard input open until then", tool)
	default:
		s.config.Log.Error("tool call", zap.String("tool", tool), zap.Error(err))
	}
	return Failure(err)
}

// visibleError is the part of an error that a caller may see.
func visibleError(err error) *RunError {
	if known, ok := errors.AsType[*messages.Error](err); ok {
		return &RunError{Code: known.Code, Message: known.Message, Retryable: known.Retryable}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &RunError{messages.CauseDeadline, "the call took too long", true}
	}
	return &RunError{messages.CauseError, "the server failed to do this; its log says why", false}
}

// library is the result as mcp-go sends it.
func (r *Result) library() *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(r.Text)}, StructuredContent: r.Structured,
		IsError: r.IsError}
	for _, l := range r.Links {
		out.Content = append(out.Content, l.library())
	}
	switch {
	case r.Failed != nil:
		out.Meta = mcp.NewMetaFromMap(map[string]any{Vendor + "error": r.Failed})
	case r.terminal != nil:
		out.Meta = mcp.NewMetaFromMap(map[string]any{eventKey: r.terminal})
	}
	return out
}

func (l Link) library() mcp.ResourceLink {
	description := ""
	if l.Partial {
		description = "partial"
	}
	link := mcp.NewResourceLink(l.URI, l.Name, description, messages.MediaType(l.Name))
	link.Size = &l.Bytes
	return link
}
