package wire

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// postModern handles a message of a protocol version without sessions. It refuses answers, because the server never
// asks these clients. It ignores notifications: clients cancel a request by closing its stream, and a notification
// could reach another client's request.
func (s *Server) postModern(w http.ResponseWriter, r *http.Request, m message) {
	switch fail := s.checkModern(r.Header, &m); {
	case m.answer():
		refuse(w, http.StatusBadRequest, m.id, errorf(mcp.INVALID_REQUEST,
			"answers are not part of protocol version %s: send them in inputResponses", mcp.ProtocolVersion20260728))
	case m.id == nil: // a notification
		w.WriteHeader(http.StatusAccepted)
	case fail != nil:
		refuse(w, http.StatusBadRequest, m.id, fail)
	default:
		x := s.newExchange(r.Context(), m, nil, &s.modern) // all requests without a session share one table
		p := x.respond(w, r)
		if err := x.table.add(x, 0); err != nil {
			refuse(w, http.StatusServiceUnavailable, m.id, errorf(codeBusy, "the server is closing"))
			return
		}
		p.serve(r)
	}
}

// checkModern makes the checks that the protocol requires first: the request declares its version and capabilities, and
// its headers agree with its body.
func (s *Server) checkModern(h http.Header, m *message) *Error {
	version := h.Get(mcp.HeaderProtocolVersion)
	switch {
	case h.Get(mcp.HeaderLastEventID) != "":
		return errorf(mcp.HEADER_MISMATCH, "Last-Event-ID is not supported: send the request again with a new id")
	case version == "":
		return errorf(mcp.HEADER_MISMATCH, "the %s header is missing", mcp.HeaderProtocolVersion)
	case m.meta.version == "":
		return errorf(mcp.INVALID_PARAMS, "missing or invalid _meta field %s", mcp.MetaKeyProtocolVersion)
	case version != m.meta.version:
		return errorf(mcp.HEADER_MISMATCH, "the %s header %q does not match %s %q in _meta",
			mcp.HeaderProtocolVersion, version, mcp.MetaKeyProtocolVersion, m.meta.version)
	}
	if fail := m.meta.check(); fail != nil {
		return fail
	}
	err := mcp.ValidateStandardHeaders(h.Get, m.meta.version, mcp.MCPMethod(m.method), m.params)
	switch {
	case err != nil:
	case slices.Contains([]string{"tasks/get", "tasks/update", "tasks/cancel"}, m.method):
		err = checkTaskName(h, m)
	case m.method == string(mcp.MethodToolsCall):
		err = s.checkToolHeaders(h, m.params)
	}
	if err != nil {
		return &Error{Code: mcp.HEADER_MISMATCH, Message: err.Error()}
	}
	return nil
}

// checkTaskName checks the header with the task's id in the way in which mcp-go checks that with a tool's name.
func checkTaskName(h http.Header, m *message) error {
	var params struct {
		TaskID string `json:"taskId"`
	}
	_ = json.Unmarshal(m.params, &params)
	name, _ := json.Marshal(map[string]string{"name": params.TaskID})
	h = h.Clone()
	h.Set(mcp.HeaderMethod, string(mcp.MethodToolsCall))
	return mcp.ValidateStandardHeaders(h.Get, m.meta.version, mcp.MethodToolsCall, name)
}

// checkToolHeaders checks the headers that repeat arguments, for tools whose schema asks for them.
func (s *Server) checkToolHeaders(h http.Header, params json.RawMessage) error {
	name, _ := mcp.ExtractHeaderName(mcp.MethodToolsCall, params)
	var tool *mcp.Tool
	if own := s.mcp.GetTool(name); own != nil {
		tool = &own.Tool
	} else if s.config.Tool != nil {
		tool = s.config.Tool(name)
	}
	if tool == nil {
		return nil
	}
	return mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := h.Values(name)
		return strings.Join(values, ", "), len(values) > 0 // HTTP defines repeated headers as a list
	}, tool, params)
}

// check returns an error if the request lacks what requests without a session must declare in _meta.
func (m *meta) check() *Error {
	if !mcp.IsValidProtocolVersion(m.version) {
		return versionError(m.version)
	}
	var capabilities *mcp.ClientCapabilities
	if json.Unmarshal(m.capabilities, &capabilities) != nil || capabilities == nil {
		return errorf(mcp.INVALID_PARAMS, "missing or invalid _meta field %s", mcp.MetaKeyClientCapabilities)
	}
	return nil
}

// versionError says which versions the server supports.
func versionError(version string) *Error {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: slices.Clone(mcp.ValidProtocolVersions)}
	details := e.JSONRPCError().Error
	return &Error{Code: details.Code, Message: details.Message, Data: details.Data}
}
