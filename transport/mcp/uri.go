package mcp

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

const runScheme = "run://"

// RunURI names the State of a run as a resource.
func RunURI(id messages.RunID) string { return runScheme + url.PathEscape(string(id)) }

// ArtifactURI names an artifact of a run as a resource. Slashes in its name stay.
func ArtifactURI(id messages.RunID, name string) string {
	return RunURI(id) + "/artifacts/" + EscapePath(name)
}

// EscapePath escapes a slash-separated path for a URI, and leaves the slashes.
func EscapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// uri is a run:// resource taken apart. The templates only say what there is: which of several that match a URI
// mcp-go picks is chance, and it takes a query for a part of {+name}.
type uri struct {
	run messages.RunID
	// part is "", "events" or "artifacts"; name is the artifact's.
	part, name string
	query      url.Values
}

func parseURI(text string) (uri, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme+"://" != runScheme {
		return uri{}, false
	}
	query, err := url.ParseQuery(parsed.RawQuery)
	part, name, _ := strings.Cut(strings.TrimPrefix(parsed.Path, "/"), "/")
	u := uri{run: messages.RunID(parsed.Host), part: part, name: name, query: query}
	return u, err == nil && u.run != "" && u.whole()
}

func (u uri) whole() bool {
	switch u.part {
	case "", "events":
		return u.name == ""
	case "artifacts":
		return u.name != ""
	}
	return false
}

// number is a parameter of the query that is not negative; missing is what it is where it is not given.
func (u uri) number(name string, missing int64) (int64, error) {
	text := u.query.Get(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, messages.InvalidInput("%s is a number from 0, not "+
			"%q", name, text)
	}
	return n, nil
}

// artifactOf tells which run, and which artifact of it, a run:// resource changes with.
func artifactOf(uri string) (run messages.RunID, name string, ok bool) {
	u, good := parseURI(uri)
	if !good {
		u.run = ""
	}
	return u.run, u.name, strings.HasPrefix(uri, runScheme)
}
