package mcp

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

const runScheme = "run://"

// RunURI returns the URI of a run's State.
func RunURI(id messages.RunID) string { return runScheme + url.PathEscape(string(id)) }

// ArtifactURI returns the URI of an artifact. Slashes in its name are not escaped.
func ArtifactURI(id messages.RunID, name string) string {
	return RunURI(id) + "/artifacts/" + EscapePath(name)
}

// EscapePath escapes a path for a URI, except for its slashes.
func EscapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// uri is a parsed run:// URI. The server parses URIs itself, because mcp-go picks a random one of several matching
// templates, and takes the query for a part of {+name}.
type uri struct {
	run messages.RunID
	// part is "", "events" or "artifacts". name is the name of the artifact.
	part, name string
	query      url.Values
}

// parseURI parses a run:// URI. ok is false if the server has no such resource.
func parseURI(text string) (uri, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme+"://" != runScheme {
		return uri{}, false
	}
	query, err := url.ParseQuery(parsed.RawQuery)
	part, name, _ := strings.Cut(strings.TrimPrefix(parsed.Path, "/"), "/")
	u := uri{run: messages.RunID(parsed.Host), part: part, name: name, query: query}
	known := (part == "" || part == "events") && name == "" || part == "artifacts" && name != ""
	return u, err == nil && u.run != "" && known
}

// number returns a query parameter that must not be negative. missing is its default.
func (u uri) number(name string, missing int64) (int64, error) {
	text := u.query.Get(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, messages.InvalidInput("%s must be a number, 0 or more, not %q", name, text)
	}
	return n, nil
}

// artifactOf returns the run, and its artifact, that changes a run:// resource. See [subscription.Changes].
func artifactOf(uri string) (run messages.RunID, name string, ok bool) {
	u, good := parseURI(uri)
	if !good {
		u.run = ""
	}
	return u.run, u.name, strings.HasPrefix(uri, runScheme)
}
