package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// JSON writes repo.graph.json. The only errors are those of w.
func (g *Graph) JSON(w io.Writer) error { return write(w, g.Document) }

// Force writes repo.force.json. The only errors are those of w.
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
