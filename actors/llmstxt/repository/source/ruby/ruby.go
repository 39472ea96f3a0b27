package ruby

import (
	"context"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is Ruby.
var Language = language.Language{Name: "Ruby", Outline: outline, Imports: imports, Note: language.LineNote("#"),
	Folders:    language.Below("lib"),
	Ecosystems: []string{"rubygems"}, Tests: []string{"require 'minitest", "require \"minitest",
		"require 'test_helper", "RSpec.describe", "require 'spec_helper"}}

func outline(ctx context.Context, text []byte) surface.Outline {
	r := rubyFile{Lines: surface.NewLines(ctx, text), at: map[string]int{}}
	for r.More() {
		line := r.Take()
		if line == "__END__" {
			break
		}
		r.line(line)
	}
	return surface.Outline{Symbols: r.symbols}
}

// rubyScope is a module, class or method body.
type rubyScope struct {
	path    string // "Foo::Bar"; "" outside
	body    bool   // a method's, where nothing is defined
	single  bool   // class << self
	hidden  bool   // :nodoc: all, or private
	private bool   // what follows "private"
	module  bool   // what follows "module_function"
}

type rubyFile struct {
	surface.Lines
	surface.Blocks[rubyScope]
	symbols []surface.Symbol // without a name where they turned out to be private
	at      map[string]int   // where a name is in symbols
	remarks surface.Remarks
	stopped bool // between :stopdoc: and :startdoc:
}

func (r *rubyFile) line(line string) {
	number := r.Next
	if strings.HasPrefix(line, "=begin") {
		for r.More() && !strings.HasPrefix(r.Take(), "=end") {
		}
		return
	}
	column, text := surface.Indentation(line)
	if text == "" {
		return
	}
	if text[0] == '#' {
		r.comment(number, text)
		return
	}
	doc := r.remarks.Above(number)
	code := rubyCode(text)
	r.heredocs(code)
	if surface.Identifier(code) == "end" {
		r.End(column)
		return
	}
	if r.Enter(column); !r.Block().body && r.Depth() < surface.Deepest {
		r.statement(rubyLine{number, column, text, code, doc})
	}
}

// rubyLine is a line of code.
type rubyLine struct {
	number, column int
	text, code     string // with and without its comment
	doc            string
}

func (r *rubyFile) comment(number int, text string) {
	if strings.HasPrefix(text, "#!") && number == 1 {
		return
	}
	text = strings.TrimLeft(text, "#")
	switch strings.TrimSpace(text) {
	case ":stopdoc:":
		r.stopped = true
	case ":startdoc:":
		r.stopped = false
	case "--", "++":
	default:
		if !isMagic(text) {
			r.remarks.Add(number, text)
		}
	}
}

// heredoc finds the word that ends a text which begins below.
var heredoc = regexp.MustCompile("<<(?:[-~][\"'`]?(\\w+)|[\"'`]?([A-Z_]+)\\b)")

// heredocs skips the texts that begin on a line.
func (r *rubyFile) heredocs(code string) {
	for _, tag := range heredoc.FindAllStringSubmatch(code, -1) {
		if end := r.EndOf(tag[1]+tag[2], " \t"); end >= 0 {
			r.Next = end + 1
		}
	}
}

func imports(line string) []string {
	switch {
	case strings.HasPrefix(line, "require_relative"):
		return []string{"./" + language.Between(line, `'"`, `'"`)}
	case strings.HasPrefix(line, "require "):
		return []string{language.Between(line, `'"`, `'"`)}
	case strings.HasPrefix(line, "autoload "):
		_, rest, _ := strings.Cut(line, ",")
		return []string{language.Between(rest, `'"`, `'"`)}
	}
	return nil
}
