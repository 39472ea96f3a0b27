package site

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// listItem is an item of a list of links in Markdown, or a heading above items.
type listItem struct {
	label, target string
	link          bool
	heading       int // level of a heading, or 0
	items         []*listItem
}

// maxList bounds lists of links: their parser needs time that grows with the square of the length for hostile ones.
const maxList = 64 << 10 // bytes

// listItems returns the items of the lists in a Markdown text, and the links outside of lists. Items below a heading
// belong to it, up to the next heading or rule.
func listItems(markdown string) []*listItem {
	if len(markdown) > maxList {
		return nil
	}
	source := []byte(markdown)
	root := &listItem{}
	within := root
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			within = &listItem{label: plain(n, source), heading: n.Level}
			root.items = append(root.items, within)
		case *ast.ThematicBreak:
			within = root
		case *ast.List:
			within.items = append(within.items, itemsOf(n, source)...)
		case *ast.Paragraph:
			within.items = append(within.items, linksOf(n, source)...)
		}
	}
	return root.items
}

func itemsOf(list ast.Node, source []byte) (items []*listItem) {
	for li := list.FirstChild(); li != nil; li = li.NextSibling() {
		item := &listItem{}
		for n := li.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() == ast.KindList {
				item.items = append(item.items, itemsOf(n, source)...)
			} else if links := linksOf(n, source); len(links) > 0 && !item.link {
				links[0].items, item = item.items, links[0]
			} else if item.label == "" {
				item.label = plain(n, source)
			}
		}
		items = append(items, item)
	}
	return items
}

// linksOf returns the links in a block.
func linksOf(block ast.Node, source []byte) (items []*listItem) {
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		if l, ok := n.(*ast.Link); ok {
			items = append(items, &listItem{label: plain(l, source), target: target(string(l.Destination)), link: true})
		} else if n.Type() == ast.TypeInline {
			items = append(items, linksOf(n, source)...)
		}
	}
	return items
}

// target returns the path of a link without its query and anchor.
func target(link string) string {
	if pos := strings.IndexAny(link, "#?"); pos >= 0 {
		link = link[:pos]
	}
	if plain, err := url.PathUnescape(link); err == nil {
		link = plain
	}
	return strings.TrimSpace(link)
}

// external matches links out of a site, and to parts of a page.
var external = lazyregexp.New(`^([a-z][a-z+.-]*:|//|#)`)

// listed returns the places of a list: those that page returns for links, and groups for all else that has places below.
func listed(items []*listItem, page func(label, target string) *Node) (nodes []*Node) {
	for _, item := range items {
		var n *Node
		if item.target != "" && !external.MatchString(item.target) {
			n = page(item.label, item.target)
		}
		children := listed(item.items, page)
		if n == nil {
			n = group(item.label, children)
		} else {
			n.Children = children
		}
		nodes = join(nodes, n)
	}
	return nodes
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
