package lines

import (
	"context"
	"regexp"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Grammar says which lines of a language declare what.
type Grammar struct {
	Comment string // begins a comment up to the end of the line, "" for none
	Block   bool   // "/*" begins a comment up to "*/"
	Plain   bool   // a plain comment documents what stands below it, like one that is marked
	// Texts are the marks of texts that may go on over lines. Here finds the word that ends a text which begins below.
	Texts []string
	Here  *regexp.Regexp
	// Docs begin a text that documents: what is above it if the group has anything, else what is below it.
	Docs *regexp.Regexp
	// Aside are the lines that stand between a comment and its declaration: annotations, directives.
	Aside *regexp.Regexp
	// Public finds in the head of a line what makes it public, and Hidden what keeps it from others. Without Public all
	// is public that is not hidden.
	Public, Hidden *regexp.Regexp
	// Label is a line that says by its group whether what follows in the block is public.
	Label *regexp.Regexp
	// Exports lists in its group names that are declared elsewhere in the file, or in another.
	Exports *regexp.Regexp
	// Last finds the name of a type behind its members.
	Last *regexp.Regexp
	// Outside of types and within them other lines declare.
	Outside, Inside []Rule
	// Ends is what ends the signature of a declaration, outside of brackets, besides "{" and ";".
	Ends []string
	// Headers are the files in which all is public; of the others only what is documented is.
	Headers *regexp.Regexp
}

// Rule finds a declaration. Its pattern has a group called name, and may have one called owner.
type Rule struct {
	Pattern *regexp.Regexp
	Kind    surface.Kind // "" for a block that is no symbol of its own
	Between string       // joins the names of the block and of what is in it; "." if empty
	// Opens tells that there may be members below the line, which belong to the name. Free tells that these are public
	// without saying so, and Through that what is declared below it stands as if outside.
	Opens, Free, Through bool
	Always               bool   // it is public as it stands
	Documented           bool   // it counts only with a comment
	Alias                bool   // it gives the owner, which is declared elsewhere, a name for others
	Closes               bool   // the name comes behind the members
	Needs                string // what an annotation above it must have
}

// Declare is a rule for a pattern in which NAME stands for an identifier that is kept.
func Declare(kind surface.Kind, pattern string) Rule {
	return Rule{Kind: kind, Pattern: Pattern(pattern)}
}

// Type is a rule for what has members.
func Type(pattern string) Rule {
	return Rule{Kind: surface.Type, Pattern: Pattern(pattern), Opens: true}
}

// Pattern compiles a pattern that holds at the start of a line, with NAME for the name and OWNER for its owner.
func Pattern(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + names.Replace(pattern) + `)`)
}

// Outline reads the public surface of a text. Once ctx is done it soon gives what it found so far.
func (g *Grammar) Outline(ctx context.Context, text []byte) surface.Outline {
	r := newReader(ctx, g, string(text))
	for r.more() {
		r.line()
	}
	return surface.Outline{Symbols: r.finish()}
}
