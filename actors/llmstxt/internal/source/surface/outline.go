package surface

import (
	"bytes"
	"unicode/utf8"
)

// Limits of one file. Text and symbols beyond them are not read.
const (
	MaxBytes       = 1 << 20
	MaxSymbols     = 2000
	SignatureRunes = 200
)

// Kind is the kind of a symbol.
type Kind string

// Kinds of symbols. A property is a variable. A class, struct, enum, trait or interface is a type.
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
	Name      string // as others use it: "Server.Start" for a method of Server
	Kind      Kind
	Signature string // as declared, on one line, without body; at most 200 runes
	Doc       string // first sentence of its documentation; may be ""
	File      string // path of the file; only set in Go packages
	Line      int    // from 1
}

// Outline is the public surface of one file or package.
type Outline struct {
	Doc     string   // description at the top of a module, as plain text; may be ""
	Symbols []Symbol // exported symbols, in the order of their lines
}

// Normal removes irrelevant differences between texts before scanning.
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
