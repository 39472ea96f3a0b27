package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// Version names the format of repo.graph.json; docs/graph.schema.json is its JSON Schema.
const Version = "lastword.graph/1"

// Document is the content of repo.graph.json. All texts are single lines without control or invisible characters, and
// without secrets.
type Document struct {
	Version string   `json:"version" jsonschema:"the version of this form, lastword.graph/1"`
	Title   string   `json:"title"`
	Remote  string   `json:"remote,omitempty" jsonschema:"https URL of the remote, without credentials"`
	Commit  string   `json:"commit,omitempty"`
	Folder  string   `json:"folder,omitempty" jsonschema:"the folder that was read, below the top of the repository"`
	Facts   []string `json:"facts" jsonschema:"what is missing from the graph or its pages, and why"`
	Stats   Stats    `json:"stats"`
	Nodes   []Node   `json:"nodes" jsonschema:"packages, sorted by path, then external packages, sorted by id"`
	Edges   []Edge   `json:"edges" jsonschema:"sorted by the ids of both nodes, then by kind"`
}

// Stats counts the contents of the document.
type Stats struct {
	Packages int   `json:"packages"`
	External int   `json:"external"`
	Imports  int   `json:"imports" jsonschema:"number of edges of the kind imports"`
	Depends  int   `json:"depends" jsonschema:"number of edges of the kind depends"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"`
	Symbols  int   `json:"symbols"`
	Pages    int   `json:"pages" jsonschema:"number of packages with a page, nodes/<id>.md"`
}

// Kind says whether a node is a package of the repository or outside of it.
type Kind string

// The kinds of nodes.
const (
	Package  Kind = "package"
	External Kind = "external"
)

// Node is a package, or something outside that packages import or depend on.
type Node struct {
	ID       string `json:"id" jsonschema:"id made from the path; the page is nodes/<id>.md"`
	Kind     Kind   `json:"kind" jsonschema:"package or external"`
	Name     string `json:"name" jsonschema:"name by which sources import it; else the name of its manifest or folder"`
	Path     string `json:"path,omitempty" jsonschema:"folder or file, relative to the root (a dot); external packages have none"`
	Language string `json:"language,omitempty"`
	Summary  string `json:"summary,omitempty" jsonschema:"one sentence, in the package's own words"`
	Files    int    `json:"files,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Symbols  int    `json:"symbols,omitempty" jsonschema:"number of exported names"`
	Page     bool   `json:"page,omitempty" jsonschema:"true if the package has a page"`
}

// Relation says how one node needs another.
type Relation string

// The relations.
const (
	Imports Relation = "imports" // a source file says so
	Depends Relation = "depends" // a manifest says so
)

// Edge leads from a package to something that it needs.
type Edge struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Kind   Relation `json:"kind" jsonschema:"imports (a source file says so) or depends (a manifest says so)"`
	Weight int      `json:"weight" jsonschema:"number of files that name the edge"`
}

// forceDocument is the content of repo.force.json: the graph in the format of viewers for force-directed graphs.
type forceDocument struct {
	Nodes []forceNode `json:"nodes"`
	Links []forceLink `json:"links"`
}

// forceNode is a node. Group is the first folder of its path, or "external". Size grows by one when its content
// doubles.
type forceNode struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Group string `json:"group"`
	Size  int    `json:"size"`
}

// forceLink joins two nodes. Value is the sum of the weights of all edges from the first to the second.
type forceLink struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Value  int    `json:"value"`
}

func write(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

const (
	rootID    = "root"
	idBytes   = 120
	hashBytes = 8 // hexadecimal digits
)

// ids makes unique ids. It ignores case, because some file systems do.
type ids map[string]bool

// of makes an id from the path. shown is the path without text that must not be shown.
func (taken ids) of(path, shown string) string {
	id, exact := safeID(shown)
	if !exact || shown != path || taken[strings.ToLower(id)] {
		sum := sha256.Sum256([]byte(path))
		digits := hex.EncodeToString(sum[:])
		base := id[:min(len(id), idBytes-hashBytes-1)]
		for n := hashBytes; ; n++ {
			if id = base + "~" + digits[:n]; !taken[strings.ToLower(id)] {
				break
			}
		}
	}
	taken[strings.ToLower(id)] = true
	return id
}

// safeID makes an id of a path. exact: nothing of the path is lost.
func safeID(path string) (id string, exact bool) {
	if path == "." {
		return rootID, true
	}
	id = strings.NewReplacer("/", ".", ".", "~").Replace(replaced.ReplaceAllString(path, "_"))
	first, _, _ := strings.Cut(id, ".")
	return id, len(path) <= idBytes && path != rootID && !replaced.MatchString(path) && !reserved.MatchString(first)
}

// replaced matches the characters that an id has an underscore for.
var replaced = lazyregexp.New(`[^\w@+./-]`)

// reserved matches device names, which Windows finds in every folder whatever follows a dot.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|(com|lpt)\d)$`)

var page = lazyregexp.New(`^nodes/([\w@+~-][\w@+~.-]*)\.md$`)

// IsPage reports whether the name belongs to a page, "nodes/<id>.md".
func IsPage(name string) bool { return len(name) <= len("nodes/.md")+idBytes && page.MatchString(name) }
