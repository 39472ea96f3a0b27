package elixir

import (
	"context"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Elixir. It has its documentation in attributes, and remarks in comments.
var Language = language.Language{Name: "Elixir", Outline: outline, Imports: imports, Note: note, Family: "beam",
	Ecosystems: []string{"hex"}}

func note(text string) string { return outline(context.Background(), []byte(text)).Doc }

func outline(ctx context.Context, text []byte) surface.Outline {
	e := elixirFile{Lines: surface.NewLines(ctx, text), at: map[string]bool{}}
	e.Outside.symbol = -1
	for e.More() {
		column, line := surface.Indentation(e.Take())
		if line != "" && line[0] != '#' {
			e.line(column, strings.TrimRight(line, " \t"))
		}
	}
	return surface.Outline{Doc: surface.Summary(e.doc), Symbols: e.symbols}
}

// elixirScope is a module or a function's body.
type elixirScope struct {
	module string
	hidden bool // nothing in it is public
	symbol int  // of the module, else -1
}

// hiddenScope is one in which nothing is public.
var hiddenScope = elixirScope{hidden: true, symbol: -1}

type elixirFile struct {
	surface.Lines
	surface.Blocks[elixirScope]
	symbols []surface.Symbol
	at      map[string]bool // names with arity that are decided
	pending elixirDoc
	doc     string // of the first module
}

// elixirDoc is what attributes say of the definition to come.
type elixirDoc struct {
	text, deprecated string
	hidden, callback bool
}

func (e *elixirFile) line(column int, line string) {
	number := e.Next
	line, document := e.heredoc(line)
	if _, ok := surface.AfterKeyword(line, "end"); ok {
		e.End(column)
		return
	}
	if e.Enter(column); e.Depth() >= surface.Deepest {
		return
	}
	if line[0] == '@' {
		e.attribute(number, line[1:], document)
		return
	}
	keyword := surface.Identifier(line)
	rest := strings.TrimLeft(line[len(keyword):], " ")
	switch keyword {
	case "defmodule", "defprotocol":
		e.module(number, column, keyword, rest)
	case "defimpl":
		e.Open(column, hiddenScope)
	case "def", "defdelegate", "defmacro", "defguard", "defp", "defmacrop", "defguardp":
		e.define(number, column, keyword, rest)
	case "defstruct", "defexception":
		e.structure(number, keyword, rest)
	case "quote":
		if strings.HasSuffix(line, " do") {
			e.Open(column, hiddenScope)
		}
	}
}

// heredoc takes the text that begins at the end of a line and gives it with what precedes it.
func (e *elixirFile) heredoc(line string) (before, document string) {
	for _, mark := range []string{`"""`, "'''"} {
		before, ok := strings.CutSuffix(line, mark)
		if !ok || strings.Count(before, mark)%2 == 1 || strings.HasPrefix(before, "#") {
			continue
		}
		var text []string
		for e.Next < len(e.All) {
			next := e.Take()
			if strings.HasPrefix(strings.TrimLeft(next, " \t"), mark) {
				break
			}
			text = append(text, next)
		}
		return before + `"`, strings.Join(text, "\n")
	}
	return line, ""
}

func (e *elixirFile) add(number int, name string, kind surface.Kind, signature string) {
	doc := e.pending
	e.pending = elixirDoc{}
	scope := e.Block()
	if e.at[name] || scope.hidden || scope.module == "" {
		return
	}
	e.at[name] = true
	private := strings.HasPrefix(name[len(scope.module)+1:], "_")
	if doc.hidden || doc.text == "" && (private || doc.callback) {
		return
	}
	text := surface.Summary(doc.text)
	if doc.deprecated != "" {
		text = surface.Summary("Deprecated: " + doc.deprecated)
	}
	e.symbols = append(e.symbols, surface.Symbol{Name: name, Kind: kind, Signature: surface.Joined(signature),
		Doc: text, Line: number})
}

func imports(line string) []string {
	list := language.Dotted(line)
	if len(list) == 0 {
		return nil
	}
	return []string{snake(list[0])}
}

// snake writes "Mix/NoProject" as Elixir names its files.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 && s[i-1] != '/' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
