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

// Result is the answer to a tool call. Some models read the text, others the structured content, so each must suffice
// on its own.
type Result struct {
	Text  string
	links []link
	// content replaces Text.
	content []mcp.Content
	// Structured is an object that fits the tool's output schema, or nil.
	Structured any
	// IsError says that the tool did not do its work.
	IsError bool
	// Failed says why the call itself failed; nil if it did not.
	Failed *RunError

	terminal *messages.Event // the run's terminal, for callers that follow its events
	dropped  []string        // arguments that the tool does not have
}

// link points to a resource.
type link struct {
	URI, Name string
	Bytes     int64
	// Partial says that the resource is incomplete.
	Partial bool
}

// Structured returns a result whose structured content is the object v, and whose text is the same as JSON.
func Structured(v any) (*Result, error) {
	text, err := Text(v)
	if err != nil {
		return nil, err
	}
	return &Result{Text: text, Structured: json.RawMessage(text)}, nil
}

// Text returns v as JSON for models to read. XML and HTML in it are not escaped.
func Text(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// Failure returns the answer to a call that failed: an error that says what to do, and a [RunError] with a code in
// _meta. It has no structured content, because clients refuse an answer that does not fit the output schema. Errors
// other than *messages.Error are hidden from the caller.
func Failure(err error) *Result {
	visible := visibleError(err)
	return &Result{Text: visible.Message, IsError: true, Failed: visible}
}

// failed returns the Failure of a call, and logs errors that the caller must not see.
func (s *Server) failed(ctx context.Context, tool string, err error) *Result {
	switch {
	case messages.CodeOf(err) != "":
	case ctx.Err() != nil: // a client that closed only its writing side may still read
		err = messages.Errorf(messages.CodeUnavailable, "the connection ended, or the call was cancelled, before %s was "+
			"answered; keep standard input open until then", tool)
	default:
		s.config.Log.Error("tool call", zap.String("tool", tool), zap.Error(err))
	}
	return Failure(err)
}

// visibleError returns the part of an error that callers may see.
func visibleError(err error) *RunError {
	if known, ok := errors.AsType[*messages.Error](err); ok {
		return &RunError{Code: known.Code, Message: known.Message, Retryable: known.Retryable, Provider: known.Provider}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &RunError{Code: messages.CauseDeadline, Message: "the call took too long", Retryable: true}
	}
	return &RunError{Code: messages.CauseError, Message: "the server failed to do this; its log says why"}
}

// library returns the result in mcp-go's type.
func (r *Result) library() *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(r.Text)}, StructuredContent: r.Structured, IsError: r.IsError}
	if r.content != nil {
		out.Content = r.content
	}
	for _, l := range r.links {
		description := ""
		if l.Partial {
			description = "partial"
		}
		link := mcp.NewResourceLink(l.URI, l.Name, description, messages.MediaType(l.Name))
		link.Size = &l.Bytes
		out.Content = append(out.Content, link)
	}
	switch {
	case r.Failed != nil:
		out.Meta = mcp.NewMetaFromMap(map[string]any{vendor + "error": r.Failed})
	case r.terminal != nil:
		out.Meta = mcp.NewMetaFromMap(map[string]any{eventKey: r.terminal})
	case r.dropped != nil:
		out.Meta = mcp.NewMetaFromMap(map[string]any{vendor + "notice": messages.Notice{Code: "arguments_dropped",
			Text: "the tool has no " + strings.Join(r.dropped, ", ") + "; the call went on without"}})
	}
	return out
}
