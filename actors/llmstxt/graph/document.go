package graph

import (
	"encoding/json"
	"io"
)

// Version names the format of repo.graph.json; docs/graph.schema.json is its JSON Schema.
const Version = "lastword.graph/1"

// Document is the content of repo.graph.json. All texts are single lines without control or invisible characters, and
// without secrets.
type Document struct {
	Version string   `json:"version" jsonschema:"the version of this form, lastword.graph/1"`
	Title   string   `json:"title"`
	Remote  string   `json:"remote,omitempty" jsonschema:"https form, without credentials"`
	Commit  string   `json:"commit,omitempty"`
	Folder  string   `json:"folder,omitempty" jsonschema:"the folder that was read, below the top of the repository"`
	Facts   []string `json:"facts" jsonschema:"what is missing from the graph or its pages, and why"`
	Stats   Stats    `json:"stats"`
	Nodes   []Node   `json:"nodes" jsonschema:"packages by path, then what is outside by id"`
	Edges   []Edge   `json:"edges" jsonschema:"by the ids of their ends, and kind"`
}

// Stats counts the contents of the document.
type Stats struct {
	Packages int   `json:"packages"`
	External int   `json:"external"`
	Imports  int   `json:"imports" jsonschema:"edges of that kind"`
	Depends  int   `json:"depends" jsonschema:"edges of that kind"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"`
	Symbols  int   `json:"symbols"`
	Pages    int   `json:"pages" jsonschema:"packages that have a page, nodes/<id>.md"`
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
	ID       string `json:"id" jsonschema:"made of the path; the page is nodes/<id>.md"`
	Kind     Kind   `json:"kind" jsonschema:"package or external"`
	Name     string `json:"name" jsonschema:"as it is imported, or as its manifest or its folder is called"`
	Path     string `json:"path,omitempty" jsonschema:"folder or file, relative to the root, which is a dot; none outside"`
	Language string `json:"language,omitempty"`
	Summary  string `json:"summary,omitempty" jsonschema:"what it says of itself, a sentence"`
	Files    int    `json:"files,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Symbols  int    `json:"symbols,omitempty" jsonschema:"exported names that were found"`
	Page     bool   `json:"page,omitempty" jsonschema:"whether it has a page"`
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
	Kind   Relation `json:"kind" jsonschema:"imports, as a source file says, or depends, as a manifest says"`
	Weight int      `json:"weight" jsonschema:"files that say so"`
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
