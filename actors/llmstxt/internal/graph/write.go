package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
)

// JSON writes repo.graph.json. Only w causes errors.
func (g *Graph) JSON(w io.Writer) error { return write(w, g.Document) }

// Force writes repo.force.json. Only w causes errors.
func (g *Graph) Force(w io.Writer) error {
	f := forceDocument{Nodes: []forceNode{}, Links: []forceLink{}}
	users := map[string]int{}
	for _, e := range g.Edges {
		users[e.To]++
		last := len(f.Links) - 1
		if last >= 0 && f.Links[last].Source == e.From && f.Links[last].Target == e.To {
			f.Links[last].Value += e.Weight
			continue
		}
		f.Links = append(f.Links, forceLink{Source: e.From, Target: e.To, Value: e.Weight})
	}
	for _, n := range g.Nodes {
		node := forceNode{ID: n.ID, Label: n.Name, Group: groupOf(n), Size: 1 + bits.Len64(uint64(n.Bytes))}
		if n.Kind == External {
			node.Size = 1 + bits.Len(uint(users[n.ID]))
		}
		f.Nodes = append(f.Nodes, node)
	}
	return write(w, f)
}

func groupOf(n Node) string {
	if n.Kind == External {
		return string(External)
	}
	first, _, _ := strings.Cut(n.Path, "/")
	return first
}

func pageName(id string) string { return "nodes/" + id + ".md" }

// Check validates the bytes of a repo.graph.json: their form, unique ids, and the ends of edges.
func Check(data []byte) error {
	var d Document
	if err := decodeStrictly(data, &d); err != nil {
		return err
	}
	if d.Version != Version {
		return fmt.Errorf("version %q is not %s", d.Version, Version)
	}
	known := map[string]bool{}
	for _, n := range d.Nodes {
		if known[n.ID] || !IsPage(pageName(n.ID)) {
			return fmt.Errorf("the id of node %q is not unique", n.ID)
		}
		known[n.ID] = true
	}
	for _, e := range d.Edges {
		if !known[e.From] || !known[e.To] {
			return fmt.Errorf("the edge from %q to %q leads nowhere", e.From, e.To)
		}
	}
	return nil
}

// CheckForce validates the bytes of a repo.force.json.
func CheckForce(data []byte) error {
	var f forceDocument
	if err := decodeStrictly(data, &f); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, n := range f.Nodes {
		known[n.ID] = true
	}
	for _, l := range f.Links {
		if !known[l.Source] || !known[l.Target] {
			return fmt.Errorf("the link from %q to %q leads nowhere", l.Source, l.Target)
		}
	}
	return nil
}

// decodeStrictly decodes JSON. It refuses unknown members, and characters that visible refuses.
func decodeStrictly(data []byte, v any) error {
	if err := visible(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// CheckPage validates the bytes of a page.
func CheckPage(data []byte) error {
	if !bytes.HasPrefix(data, []byte(Mark)) {
		return errors.New("the page lacks the first line that marks it")
	}
	return visible(data)
}

// visible returns an error for a character that controls a terminal or is invisible.
func visible(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("it is not UTF-8")
	}
	hidden := func(r rune) bool {
		return r != '\n' && (r < ' ' || r > '~' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp))
	}
	if i := bytes.IndexFunc(data, hidden); i >= 0 {
		return fmt.Errorf("there is an invisible character at byte %d", i)
	}
	return nil
}

// Mark is the first line of every page.
const Mark = "<!-- " + Version + " -->\n"

// Limits of the lists on a page.
const (
	filesListed = 300
	nodesListed = 300
)

// pages writes pages. It holds the neighbours of each node.
type pages struct {
	*Graph
	nodes   map[string]neighbour
	out, in map[string][]Edge
}

// neighbour is a node as other pages name it: with a link to its page, and its summary.
type neighbour struct {
	*Node
	title, summary string
}

// Page is a page that is not written yet.
type Page struct {
	Name  string // nodes/<id>.md
	Write func(w io.Writer) error
}

// Pages returns the pages in the order of the nodes. Only w causes errors of Write.
func (g *Graph) Pages() []Page {
	ps := &pages{Graph: g, nodes: map[string]neighbour{}, out: map[string][]Edge{}, in: map[string][]Edge{}}
	var list []Page
	for i := range g.Nodes {
		n := &g.Nodes[i]
		ps.nodes[n.ID] = newNeighbour(n)
		if n.Page {
			list = append(list, Page{pageName(n.ID), func(w io.Writer) error { return ps.write(w, n) }})
		}
	}
	for _, e := range g.Edges {
		ps.out[e.From] = append(ps.out[e.From], e)
		ps.in[e.To] = append(ps.in[e.To], e)
	}
	return list
}

// newNeighbour escapes a node for the pages of others.
func newNeighbour(n *Node) neighbour {
	title, summary := sanitize.Paragraph(n.Name), ""
	if n.Page {
		title = "[" + sanitize.LinkTitle(n.Name) + "](" + n.ID + ".md)"
	}
	if n.Summary != "" {
		summary = ": " + sanitize.Inline(n.Summary)
	}
	return neighbour{n, title, summary}
}

// write writes the page of a node: facts, edges by their kinds, exported symbols, files.
func (ps *pages) write(w io.Writer, n *Node) error {
	var b bytes.Buffer
	p := ps.parts[n.ID]
	fmt.Fprintf(&b, "%s# %s\n\n", Mark, sanitize.Heading(n.Name))
	if n.Summary != "" {
		fmt.Fprintf(&b, "%s\n\n", sanitize.Paragraph(n.Summary))
	}
	fmt.Fprintf(&b, "- Path: %s\n", sanitize.Code(n.Path))
	if n.Language != "" {
		fmt.Fprintf(&b, "- Language: %s\n", sanitize.Inline(n.Language))
	}
	fmt.Fprintf(&b, "- Files: %d, %s\n", n.Files, words.Count(n.Bytes, "byte"))
	from := func(e Edge) string { return e.From }
	to := func(e Edge) string { return e.To }
	ps.related(&b, "Imports", ps.out[n.ID], to, Imports, Package)
	ps.related(&b, "External imports", ps.out[n.ID], to, Imports, External)
	ps.related(&b, "Depends on", ps.out[n.ID], to, Depends, "")
	ps.related(&b, "Imported by", ps.in[n.ID], from, Imports, "")
	ps.related(&b, "Needed by", ps.in[n.ID], from, Depends, "")
	ps.symbols(&b, p)
	list(&b, "Files", p.files, filesListed, func(f *file) string {
		return sanitize.Code(ps.line(f.Path)) + ", " + words.Count(f.Size, "byte")
	})
	_, err := w.Write(b.Bytes())
	return err
}

// related lists the other ends of the edges of a kind, the heaviest first. ends restricts their kind; "" means both
// kinds.
func (ps *pages) related(b *bytes.Buffer, title string, edges []Edge, end func(Edge) string, kind Relation, ends Kind) {
	edges = stable.DeleteFunc(slices.Clone(edges), func(e Edge) bool {
		return e.Kind != kind || ends != "" && ps.nodes[end(e)].Kind != ends
	})
	stable.Sort(edges, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), strings.Compare(ps.nodes[end(x)].Name, ps.nodes[end(y)].Name))
	})
	list(b, title, edges, nodesListed, func(e Edge) string {
		n := ps.nodes[end(e)]
		if kind == Imports {
			return n.title + " (" + words.Count(e.Weight, "file") + ")" + n.summary
		}
		return n.title + n.summary
	})
}

// symbols lists the symbols that mostImportant has kept, and says how many it has not.
func (ps *pages) symbols(b *bytes.Buffer, p *part) {
	list(b, "Exported", p.symbols, symbolsKept, func(s surface.Symbol) string {
		line := sanitize.Code(cmp.Or(ps.line(s.Signature), ps.line(s.Name)))
		if doc := ps.line(s.Doc); doc != "" {
			line += ": " + sanitize.Inline(doc)
		}
		return line
	})
	if more := p.count - len(p.symbols); more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
	if p.partly {
		fmt.Fprintf(b, "\nNot all of its files were searched for exports.\n")
	}
}

// list writes a section with at most most items, and how many are left out. Without items it writes nothing.
func list[T any](b *bytes.Buffer, title string, items []T, most int, say func(T) string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, item := range items[:min(len(items), most)] {
		fmt.Fprintf(b, "- %s\n", say(item))
	}
	if more := len(items) - most; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}
