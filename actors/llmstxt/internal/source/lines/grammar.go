package lines

import (
	"context"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
)

// Grammar says which lines of a language are declarations. It never changes.
type Grammar struct {
	Comment string // begins a comment up to the end of the line; "" if there is none
	Block   bool   // "/*" begins a comment up to "*/"
	Plain   bool   // a plain comment documents the declaration below it, like a doc comment
	// Texts are the marks of texts that may span lines. Here finds the end word of a text that begins on the next
	// line.
	Texts []string
	Here  *regexp.Regexp
	// Docs begins a documentation text: for what is above it if the group is not empty, and otherwise for what is
	// below it.
	Docs *regexp.Regexp
	// Aside matches lines between a comment and its declaration: annotations, directives.
	Aside *regexp.Regexp
	// Public finds in the head of a line what makes it public; Hidden finds what makes it private. Without Public,
	// everything is public that is not hidden.
	Public, Hidden *regexp.Regexp
	// Label matches a line whose group says whether the following lines of the block are public.
	Label *regexp.Regexp
	// Exports has a group that lists names which are declared elsewhere in the file, or in another file.
	Exports *regexp.Regexp
	// Last finds the name of a type after its members.
	Last *regexp.Regexp
	// Outside and Inside are the rules outside of types and within them.
	Outside, Inside []Rule
	// Ends are texts that end the signature of a declaration, outside of brackets, besides "{" and ";".
	Ends []string
	// Headers matches files in which everything is public. In other files only documented declarations are.
	Headers *regexp.Regexp
}

// Rule finds a declaration. Its pattern has a group called name, and may have a group called owner.
type Rule struct {
	Pattern *regexp.Regexp
	Kind    surface.Kind // "" for a block that is not a symbol itself
	Between string       // joins the names of the block and of its content; "" means "."
	// Opens: members may follow below the line. Free: they are public by default. Through: declarations below count
	// as outside.
	Opens, Free, Through bool
	Always               bool   // public by itself
	Documented           bool   // counts only with a comment
	Alias                bool   // gives the owner, which is declared elsewhere, another name
	Closes               bool   // the name follows the members
	Needs                string // what an annotation above it must contain
}

// Parse makes a grammar from lines of the form "key: value"; languages.txt explains them.
func Parse(text string) *Grammar {
	g := &Grammar{}
	patterns := map[string]**regexp.Regexp{"here": &g.Here, "docs": &g.Docs, "aside": &g.Aside, "public": &g.Public,
		"hidden": &g.Hidden, "label": &g.Label, "exports": &g.Exports, "last": &g.Last, "headers": &g.Headers}
	words := []string{"NAME", `(?P<name>[\pL_][\pL\pN_]*)`, "OWNER", `(?P<owner>[\pL_][\pL\pN_]*)`}
	joins := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		what, rest, _ := strings.Cut(key, " ")
		switch what {
		case "comment":
			g.Comment = value
		case "block":
			g.Block = true
		case "plain":
			g.Plain = true
		case "texts":
			g.Texts = strings.Fields(value)
		case "ends":
			g.Ends = strings.Split(strings.TrimSuffix(value, "|"), "|")
		case "joins":
			joins = value
		case "word":
			words = append(words, rest, strings.NewReplacer(words...).Replace(value))
		case "outside", "inside", "both":
			g.add(what, parseRule(rest, joins, strings.NewReplacer(words...).Replace(value)))
		default:
			*patterns[what] = regexp.MustCompile(value)
		}
	}
	return g
}

// add adds a rule for the lines outside of types, inside, or both.
func (g *Grammar) add(where string, r Rule) {
	if where != "inside" {
		g.Outside = append(g.Outside, r)
	}
	if where != "outside" {
		g.Inside = append(g.Inside, r)
	}
}

// parseRule reads the kind and the flags of a rule.
func parseRule(of, joins, pattern string) Rule {
	kind, flags, _ := strings.Cut(of, " ")
	r := Rule{Pattern: regexp.MustCompile(`^(?:` + pattern + `)`), Kind: surface.Kind(strings.Trim(kind, "-")), Between: joins}
	set := map[string]*bool{"opens": &r.Opens, "free": &r.Free, "through": &r.Through, "always": &r.Always,
		"documented": &r.Documented, "alias": &r.Alias, "closes": &r.Closes}
	for flag := range strings.FieldsSeq(flags) {
		switch name, value, _ := strings.Cut(flag, "="); name {
		case "joins":
			r.Between = value
		case "needs":
			r.Needs = value
		default:
			*set[name] = true
		}
	}
	return r
}

// Outline returns the public surface of a text. After ctx is done it soon returns what it has found.
func (g *Grammar) Outline(ctx context.Context, text []byte) surface.Outline {
	r := reader{Grammar: g, ctx: ctx, lines: strings.Split(string(text), "\n"), at: map[string]int{},
		apart: map[string]surface.Symbol{}, waiting: -1, blocks: []block{{indent: -1, column: 0, rule: Rule{Through: true}}},
		all: g.Headers == nil || g.Headers.Match(text) || !bodies.Match(text)}
	for r.more() {
		r.line()
	}
	return surface.Outline{Symbols: r.finish()}
}
