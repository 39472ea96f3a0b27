package surface

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// What one file may cost: text beyond, and symbols beyond, are not read.
const (
	MaxBytes       = 1 << 20
	MaxSymbols     = 2000
	SignatureRunes = 200
)

// Kind says what a symbol is.
type Kind string

// The kinds of symbols. A property is a variable; a class, struct, enum, trait or interface is a type.
const (
	Function Kind = "function"
	Method   Kind = "method"
	Type     Kind = "type"
	Constant Kind = "constant"
	Variable Kind = "variable"
	Macro    Kind = "macro"
	Module   Kind = "module"
	Command  Kind = "command"
)

// Symbol is one exported name.
type Symbol struct {
	Name      string // as it is used by others: "Server.Start" for a method of Server
	Kind      Kind
	Signature string // as declared, on one line, without body; at most 200 runes
	Doc       string // first sentence of its documentation; may be empty
	File      string // path of the file; set by Go packages only, else ""
	Line      int    // from 1
}

// Outline is the public surface of one file or package.
type Outline struct {
	Doc     string   // what a module says of itself at its top, plain text; may be empty
	Symbols []Symbol // exported ones, in the order of their lines
}

// Normal spares every scanner the ways in which texts differ without saying anything else.
func Normal(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	text = text[:min(len(text), MaxBytes)]
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}

// Finish makes what every outline promises true of what a scanner found.
func Finish(o Outline) Outline {
	o.Symbols = slices.DeleteFunc(o.Symbols, func(s Symbol) bool { return s.Name == "" })
	slices.SortStableFunc(o.Symbols, func(a, b Symbol) int { return cmp.Compare(a.Line, b.Line) })
	o.Symbols = o.Symbols[:min(len(o.Symbols), MaxSymbols)]
	for i := range o.Symbols {
		s := &o.Symbols[i]
		s.Signature = prose.Shorten(prose.Tidy(s.Signature), SignatureRunes)
		s.Doc = titled(s.Name, s.Doc)
	}
	return o
}
