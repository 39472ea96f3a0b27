package lines

import (
	"context"
	"regexp"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
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

// Declare makes a rule from a pattern in which NAME stands for the identifier.
func Declare(kind surface.Kind, pattern string) Rule {
	return Rule{Kind: kind, Pattern: Pattern(pattern)}
}

// Type makes a rule for a declaration with members.
func Type(pattern string) Rule {
	return Rule{Kind: surface.Type, Pattern: Pattern(pattern), Opens: true}
}

// Pattern compiles a pattern for the beginning of a line. NAME stands for the name, and OWNER for its owner.
func Pattern(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + names.Replace(pattern) + `)`)
}

// Outline returns the public surface of a text. After ctx is done it soon returns what it has found.
func (g *Grammar) Outline(ctx context.Context, text []byte) surface.Outline {
	r := newReader(ctx, g, string(text))
	for r.more() {
		r.line()
	}
	return surface.Outline{Symbols: r.finish()}
}
