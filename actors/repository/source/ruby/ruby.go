package ruby

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/language"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// Language is Ruby.
var Language = language.Language{Name: "Ruby", Outline: outline, Imports: imports, Note: language.LineNote("#"),
	Folders:    language.Below("lib"),
	Ecosystems: []string{"rubygems"}, Tests: []string{"require 'minitest", "require \"minitest",
		"require 'test_helper", "RSpec.describe", "require 'spec_helper"}}

func outline(ctx context.Context, text []byte) surface.Outline {
	r := rubyFile{lines: strings.Split(string(text), "\n"), at: map[string]int{}}
	for clock := (surface.Clock{Context: ctx}); r.next < len(r.lines) && !clock.Over(); {
		line := r.lines[r.next]
		r.next++
		if line == "__END__" {
			break
		}
		r.line(line)
	}
	return r.outline()
}

// rubyScope is a module, class or method body, by indentation: "end" stands below what it ends.
type rubyScope struct {
	indent  int
	path    string // "Foo::Bar"; "" outside
	body    bool   // a method's, where nothing is defined
	single  bool   // class << self
	hidden  bool   // :nodoc: all, or private
	private bool   // what follows "private"
	module  bool   // what follows "module_function"
}

type rubyFile struct {
	lines   []string
	next    int // index of the line to read
	scopes  []rubyScope
	symbols []surface.Symbol
	at      map[string]int // where a name is in symbols
	remarks surface.Remarks
	stopped bool // between :stopdoc: and :startdoc:
	unended int  // texts that seemed to begin and had no end
}

func (r *rubyFile) line(line string) {
	number := r.next
	if strings.HasPrefix(line, "=begin") {
		r.blockComment()
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
	if keyword := surface.Identifier(code); keyword == "end" {
		r.leave(column)
		return
	}
	for len(r.scopes) > 0 && r.scope().indent > column {
		r.scopes = r.scopes[:len(r.scopes)-1]
	}
	if !r.scope().body && len(r.scopes) < surface.Deepest {
		r.statement(rubyLine{number, column, text, code, doc})
	}
}

// rubyLine is a line of code.
type rubyLine struct {
	number, column int
	text, code     string // with and without its comment
	doc            string
}

func (r *rubyFile) blockComment() {
	for r.next < len(r.lines) {
		line := r.lines[r.next]
		r.next++
		if strings.HasPrefix(line, "=end") {
			r.remarks.Last = r.next
			return
		}
		r.remarks.Add(r.next, line)
	}
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

func (r *rubyFile) scope() *rubyScope {
	if len(r.scopes) == 0 {
		return &rubyScope{indent: -1}
	}
	return &r.scopes[len(r.scopes)-1]
}

func (r *rubyFile) leave(column int) {
	for len(r.scopes) > 0 && r.scope().indent >= column {
		ended := r.scope().indent == column
		r.scopes = r.scopes[:len(r.scopes)-1]
		if ended {
			return
		}
	}
}

// heredocs skips the texts that begin on a line.
func (r *rubyFile) heredocs(code string) {
	for {
		i := strings.Index(code, "<<")
		if i < 0 {
			return
		}
		code = code[i+2:]
		tag, dashed := rubyHeredoc(code)
		if tag == "" {
			continue
		}
		if r.unended < rubyUnended && !r.skipTo(tag, dashed) {
			r.unended++
		}
	}
}

// rubyHeredoc is the word that ends the text that a "<<" begins, "" if it does not begin one.
func rubyHeredoc(after string) (tag string, indented bool) {
	bare := strings.TrimLeft(after, "-~")
	indented = len(bare) < len(after)
	if bare == "" {
		return "", false
	}
	if quote := bare[0]; quote == '"' || quote == '\'' || quote == '`' {
		tag, _, ok := strings.Cut(bare[1:], string(quote))
		if !ok || !indented && surface.Identifier(tag) != tag {
			return "", false
		}
		return tag, indented
	}
	tag = surface.Identifier(bare)
	if tag == "" || !indented && !surface.IsConstantName(tag) {
		return "", false
	}
	return tag, indented
}

// So many shifts may look like heredocs until none is looked for any more.
const rubyUnended = 20

// skipTo moves behind the line that ends a heredoc; without one there is none.
func (r *rubyFile) skipTo(tag string, indented bool) bool {
	for i := r.next; i < len(r.lines); i++ {
		line := r.lines[i]
		if indented {
			line = strings.TrimLeft(line, " \t")
		}
		if line == tag {
			r.next = i + 1
			return true
		}
	}
	return false
}

func (r *rubyFile) outline() surface.Outline {
	r.remarks.End()
	o := surface.Outline{Doc: surface.DocText(r.remarks.Head)}
	for _, s := range r.symbols {
		if s.Name != "" {
			o.Symbols = append(o.Symbols, s)
		}
	}
	return o
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
