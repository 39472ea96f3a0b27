package source

import (
	"context"
	"regexp"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/lines"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// lined returns a function that reads a language by a grammar of its lines. The grammar is compiled when it is first
// needed.
func lined(grammar func() *lines.Grammar) func(ctx context.Context, text []byte) surface.Outline {
	made := sync.OnceValue(grammar)
	return func(ctx context.Context, text []byte) surface.Outline { return made().Outline(ctx, text) }
}

// words matches any words before a name, as few as possible.
const words = `(?:[\w@]+(?:\([^)]*\))?\s+)*?`

// open makes rules for types whose members are public by default.
func open(rules ...lines.Rule) []lines.Rule {
	for i := range rules {
		rules[i].Free = true
	}
	return rules
}

// within makes a rule for a block that is not a symbol itself: declarations in it count as outside of it.
func within(pattern string) lines.Rule {
	return lines.Rule{Pattern: lines.Pattern(pattern), Opens: true, Through: true}
}

// joined makes the rules join the names of a block's content with the mark.
func joined(between string, rules ...[]lines.Rule) {
	for _, list := range rules {
		for i := range list {
			list[i].Between = between
		}
	}
}

var python = lined(func() *lines.Grammar {
	class, constant := lines.Type(`class\s+NAME`), lines.Declare(surface.Constant,
		`(?P<name>[A-Z][A-Z0-9_]+)(?:\s*:[^=]+)?\s*=`)
	const def = `(?:async\s+)?def\s+NAME`
	return &lines.Grammar{Comment: "#", Texts: []string{`"""`, "'''"}, Ends: []string{":"},
		Docs:   regexp.MustCompile(`^[rRuU]?("""|'''|"|')`),
		Aside:  regexp.MustCompile(`^@`),
		Hidden: regexp.MustCompile(`^(?:async\s+)?(?:def|class)\s+_|__main__`),
		Outside: []lines.Rule{class, lines.Declare(surface.Function, def), constant,
			lines.Declare(surface.Type, `(?P<name>[A-Z]\w*[a-z]\w*)(?:\s*:[^=]+)?\s*=`),
			within(`(?:if|elif|else|try|except|finally|with)\b.*`)},
		Inside: []lines.Rule{class, lines.Declare(surface.Method, def)}}
})

var ruby = lined(func() *lines.Grammar {
	rules := open(lines.Type(`class\s+(?P<name>[A-Z][\w:]*)`), lines.Rule{Kind: surface.Module, Opens: true,
		Pattern: lines.Pattern(`module\s+(?P<name>[A-Z][\w:]*)`)},
		lines.Declare(surface.Constant, `(?P<name>[A-Z][A-Z0-9_]*)\s*=[^=~]`),
		lines.Declare(surface.Type, `(?P<name>[A-Z]\w*)\s*=\s*[A-Z]`))
	joined("::", rules)
	single := lines.Rule{Pattern: lines.Pattern(`class\s*<<\s*self`), Opens: true, Free: true, Between: "."}
	own := lines.Declare(surface.Method, `def\s+self\.(?P<name>\w+[?!=]?)`)
	own.Between = "."
	method := lines.Declare(surface.Method, `def\s+(?P<name>\w+[?!=]?|[^\s\w(]+)`)
	attribute := lines.Declare(surface.Variable, `attr_(?:reader|accessor|writer)\s+:(?P<name>\w+)`)
	method.Between, attribute.Between = "#", "#"
	return &lines.Grammar{Comment: "#", Ends: []string{" = ", " do ", " #"},
		Here:    regexp.MustCompile("<<[-~]?[\"'`]?([A-Z_]{2,})\\b"),
		Label:   regexp.MustCompile(`^(private|protected|public|module_function)$`),
		Hidden:  regexp.MustCompile(`^def\s+(?:self\.)?_`),
		Outside: append(rules, own, lines.Declare(surface.Function, `def\s+(?P<name>\w+[?!=]?)`)),
		Inside:  append(rules[:4:4], single, own, method, attribute)}
})

var elixir = lined(func() *lines.Grammar {
	rules := open(lines.Rule{Kind: surface.Module, Opens: true,
		Pattern: lines.Pattern(`(?:defmodule|defprotocol)\s+(?P<name>[A-Z][\w.]*)`)})
	return &lines.Grammar{Comment: "#", Texts: []string{`"""`, "'''"}, Ends: []string{", do:", " do", " when "},
		Docs:    regexp.MustCompile(`^@(?:doc|typedoc|module(doc))\s+(?:~[sS])?"(?:"")?`),
		Aside:   regexp.MustCompile(`^@(?:spec|impl|deprecated|since|doc)\b`),
		Hidden:  regexp.MustCompile(`^def\w*\s+_`),
		Outside: rules,
		Inside: append(rules, lines.Declare(surface.Function, `(?:def|defdelegate)\s+(?P<name>\w+[?!]?)`),
			lines.Declare(surface.Macro, `(?:defmacro|defguard)\s+(?P<name>\w+[?!]?)`))}
})

var shell = lined(func() *lines.Grammar {
	return &lines.Grammar{Comment: "#", Ends: []string{" {", "{", "("},
		Here:   regexp.MustCompile(`<<-?\s*["'\\]?([A-Za-z_]\w*)`),
		Hidden: regexp.MustCompile(`^(?:function\s+)?_`),
		Outside: []lines.Rule{lines.Declare(surface.Function, `function\s+(?P<name>[\w.:-]+)`),
			lines.Declare(surface.Function, `(?P<name>[A-Za-z_][\w.:-]*)\s*\(\s*\)`)}}
})

var javascript = lined(func() *lines.Grammar {
	const export = `(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
	const function = `\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)[^=]*=>|\w+\s*=>|<|\($)`
	const modifiers = `(?:(?:static|async|public|protected|override|abstract|readonly|declare)\s+)*\*?\s*`
	member := func(kind surface.Kind, end string) lines.Rule {
		r := lines.Declare(kind, `(?:exports\s*=\s*)?(?:module\.)?exports\.NAME`+end)
		r.Always = true
		return r
	}
	return &lines.Grammar{Comment: "//", Block: true, Plain: true, Texts: []string{"`"}, Ends: []string{"=>"},
		Aside:   regexp.MustCompile(`^@`),
		Public:  regexp.MustCompile(`^(?:export|declare)\b`),
		Hidden:  regexp.MustCompile(`\bprivate\b|\b_\w+\W*$`),
		Exports: regexp.MustCompile(`^(?:export\s+(?:type\s+)?|(?:(?:module\.)?exports\s*=\s*)+|export\s+default\s+|export\s+=\s*)(\{.*|[A-Za-z_]\w*;?)$`),
		Outside: []lines.Rule{
			lines.Declare(surface.Function, export+`(?:async\s+)?function\s*\*?\s*NAME`),
			lines.Type(export + `(?:abstract\s+)?class\s+NAME`),
			lines.Declare(surface.Type, export+`(?:const\s+)?(?:interface|enum|type)\s+NAME`),
			{Kind: surface.Module, Pattern: lines.Pattern(export + `(?:namespace|module)\s+NAME`), Opens: true, Through: true},
			{Pattern: lines.Pattern(`(?:module\.)?exports\.NAME\s*=\s*(?P<owner>[A-Za-z_]\w*);?$`), Alias: true},
			member(surface.Function, function), member(surface.Variable, `\s*=`),
			lines.Declare(surface.Function, export+`(?:const|let|var)\s+NAME(?:\s*:[^=]+)?`+function),
			lines.Declare(surface.Constant, export+`const\s+NAME`),
			lines.Declare(surface.Variable, export+`(?:let|var)\s+NAME`),
			lines.Declare(surface.Method, `OWNER(?:\.prototype)?\.NAME`+function),
		},
		Inside: []lines.Rule{
			lines.Declare(surface.Variable, `(?:static\s+)?get\s+NAME\s*\(`),
			lines.Declare(surface.Method, modifiers+`NAME\??\s*(?:<[^(]*>)?\(`),
			lines.Declare(surface.Method, modifiers+`NAME\s*(?::[^=]+)?`+function),
		}}
})

var rust = lined(func() *lines.Grammar {
	const vis = `(?:pub(?:\([^)]*\))?\s+)?`
	const fn = vis + `(?:(?:const|async|unsafe|default|extern(?:\s+"[^"]*")?)\s+)*fn\s+(?:r#)?NAME`
	macro := lines.Declare(surface.Macro, `macro_rules!\s*NAME`)
	macro.Always, macro.Needs = true, "macro_export"
	g := &lines.Grammar{Comment: "//", Block: true, Ends: []string{" = "},
		Aside:   regexp.MustCompile(`^#!?\[`),
		Public:  regexp.MustCompile(`^pub\b`),
		Hidden:  regexp.MustCompile(`^pub\((?:crate|super|self|in)`),
		Exports: regexp.MustCompile(`^pub use ([^;]*)`),
		Outside: []lines.Rule{
			lines.Declare(surface.Function, fn),
			lines.Declare(surface.Type, vis+`(?:unsafe\s+)?(?:struct|enum|union|trait|type)\s+NAME`),
			lines.Declare(surface.Constant, vis+`const\s+NAME`),
			lines.Declare(surface.Variable, vis+`static\s+(?:mut\s+)?NAME`),
			{Kind: surface.Module, Pattern: lines.Pattern(vis + `mod\s+NAME`), Opens: true, Through: true},
			macro,
			{Pattern: lines.Pattern(`(?:unsafe\s+)?impl\b.*\sfor\s`)},
			{Pattern: lines.Pattern(`(?:unsafe\s+)?impl(?:<.*?>)?\s+(?:\w+::)*NAME`), Opens: true},
		},
		Inside: []lines.Rule{lines.Declare(surface.Method, fn), lines.Declare(surface.Constant, vis+`const\s+NAME`)}}
	joined("::", g.Outside, g.Inside)
	return g
})

var java = lined(func() *lines.Grammar {
	const notes = `(?:@\w+(?:\([^)]*\))?\s+)*`
	types := append(open(lines.Type(notes+`(?:[\w-]+\s+)*?@?interface\s+NAME`)),
		lines.Type(notes+`(?:[\w-]+\s+)*?(?:class|enum|record)\s+NAME`))
	return &lines.Grammar{Comment: "//", Block: true, Texts: []string{`"""`}, Ends: []string{" = ", " default "},
		Aside:   regexp.MustCompile(`^(?:@\w[\w.]*(?:\([^)]*\)?)?\s*)+$`),
		Public:  regexp.MustCompile(`\b(?:public|protected)\b`),
		Hidden:  regexp.MustCompile(`\bprivate\b`),
		Outside: types,
		Inside: append(types,
			lines.Declare(surface.Constant, notes+`(?:\w+\s+)*?static\s+(?:\w+\s+)*?final\s+[\w<>\[\],.? ]+\s+NAME\s*[=;,]`),
			lines.Declare(surface.Method, notes+`[\w<>\[\],.?&\s]*?NAME\s*\(`),
			lines.Declare(surface.Variable, notes+`[\w<>\[\],.?\s]+\s+NAME\s*[=;,]`))}
})

var kotlin = lined(func() *lines.Grammar {
	types := open(within(words+`companion\s+object`), lines.Type(words+`(?:class|interface|object)\s+NAME`))
	const owner = `\s+(?:<[^>]*>\s*)?(?:OWNER(?:<[^(]*>)?\??\.)?`
	rules := append(types, lines.Declare(surface.Function, words+`fun`+owner+`NAME\s*(?:<[^>]*>)?\(`),
		lines.Declare(surface.Constant, words+`const\s+val\s+NAME`),
		lines.Declare(surface.Variable, words+`va[lr]`+owner+`NAME`), lines.Declare(surface.Type, words+`typealias\s+NAME`))
	inside := append([]lines.Rule(nil), rules...)
	inside[2].Kind = surface.Method
	return &lines.Grammar{Comment: "//", Block: true, Texts: []string{`"""`}, Ends: []string{" = ", " by "},
		Aside:   regexp.MustCompile(`^@\w[\w.:]*(?:\(.*\)?)?$`),
		Hidden:  regexp.MustCompile(`\b(?:private|internal)\b`),
		Outside: rules, Inside: inside}
})

var swift = lined(func() *lines.Grammar {
	rules := []lines.Rule{lines.Type(words + `(?:class|struct|enum|actor)\s+NAME`),
		lines.Declare(surface.Function, words+`func\s+(?P<name>[^\s(<]+)`),
		lines.Declare(surface.Type, words+`(?:protocol|typealias)\s+NAME`),
		{Pattern: lines.Pattern(words + `extension\s+(?P<name>[\w.]+)`), Opens: true},
		lines.Declare(surface.Constant, words+`let\s+NAME`), lines.Declare(surface.Variable, words+`var\s+NAME`)}
	inside := append([]lines.Rule{lines.Declare(surface.Method, words+`(?P<name>init|subscript)\b`)}, rules...)
	inside[1], inside[2] = inside[2], inside[1]
	inside[1].Kind = surface.Method
	return &lines.Grammar{Comment: "//", Block: true, Texts: []string{`"""`}, Ends: []string{" = "},
		Aside:   regexp.MustCompile(`^(?:@\w+(?:\(.*\))?$|#)`),
		Public:  regexp.MustCompile(`\b(?:public|open)\b`),
		Hidden:  regexp.MustCompile(`\b(?:private|fileprivate|internal)\s`),
		Outside: rules, Inside: inside}
})

var csharp = lined(func() *lines.Grammar {
	const mods = `(?:[a-z]+\s+)*?`
	types := append(open(lines.Type(mods+`interface\s+NAME`)),
		lines.Type(mods+`(?:class|struct|record(?:\s+(?:class|struct))?|enum)\s+NAME`),
		lines.Declare(surface.Type, mods+`delegate\s+[^(]*?NAME\s*[<(]`))
	return &lines.Grammar{Comment: "//", Block: true, Texts: []string{`"""`}, Ends: []string{" = ", "=>"},
		Aside:   regexp.MustCompile(`^(?:\[.*\]?$|#)`),
		Public:  regexp.MustCompile(`\b(?:public|protected)\b`),
		Hidden:  regexp.MustCompile(`\b(?:private|internal)\b`),
		Outside: append(types, within(`namespace\s+[\w.]+`)),
		Inside: append(types[:3:3], lines.Declare(surface.Constant, mods+`const\s+\S+\s+NAME`),
			lines.Declare(surface.Method, `[\w<>\[\],.?\s()]*?NAME\s*(?:<[^(]*>)?\(`),
			lines.Declare(surface.Variable, `[\w<>\[\],.?\s()]+\s+NAME\s*(?:[{=;]|$)`))}
})

var php = lined(func() *lines.Grammar {
	types := open(lines.Type(`(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+NAME`))
	const mods = `(?:[a-z]+\s+)*?`
	g := &lines.Grammar{Comment: "//", Block: true,
		Here:   regexp.MustCompile(`<<<\s*['"]?([A-Za-z_]\w*)`),
		Aside:  regexp.MustCompile(`^#\[`),
		Hidden: regexp.MustCompile(`\bprivate\b`),
		Outside: append(types, lines.Declare(surface.Function, `function\s+&?NAME`),
			lines.Declare(surface.Constant, `const\s+NAME\s*=`), within(`(?:namespace|if)\b.*\{`)),
		Inside: append(types[:1:1], lines.Declare(surface.Method, mods+`function\s+&?NAME`),
			lines.Declare(surface.Constant, mods+`const\s+(?:\w+\s+)?NAME\s*=`))}
	joined("::", g.Outside, g.Inside)
	return g
})

// c is for both C and C++.
var c = lined(func() *lines.Grammar {
	documented := lines.Declare(surface.Macro, `#\s*define\s+(?P<name>[A-Za-z]\w*)\s`)
	documented.Documented = true
	const end = `\s+(?:[A-Z][A-Z_]+\s+)?NAME\s*(?:final\s*)?(?:[:{]|$)`
	types := append(open(lines.Type(`class`+end), lines.Type(`(?:struct|union)`+end)),
		lines.Declare(surface.Type, `enum(?:\s+class|\s+struct)?`+end))
	call := func(kind surface.Kind, before string) lines.Rule {
		return lines.Declare(kind, before+`(?P<name>~?[A-Za-z_]\w*)\s*\(`)
	}
	g := &lines.Grammar{Comment: "//", Block: true, Plain: true,
		Aside:   regexp.MustCompile(`^(?:#\s*(?:if|el|en|in|pr|un|er)|\[\[|template\s*<.*>$|extern "C"|[A-Z_]+$)`),
		Label:   regexp.MustCompile(`^(public|private|protected|signals|Q_SIGNALS)\b[^;(]*:$`),
		Hidden:  regexp.MustCompile(`^static\s+(?:[^ic]|i[^n]|in[^l])|\b_\w+\W*$|^friend|namespace\s+(?:\w+::)*(?:detail|internal|impl)`),
		Last:    regexp.MustCompile(`^\}\s*(\w+)\s*;`),
		Headers: regexp.MustCompile(`(?m)^#\s*pragma once|^#\s*if(?:ndef|\s+!defined).*\s*\n#\s*define\s+\w+\s*$`),
		Outside: append(types, lines.Declare(surface.Macro, `#\s*define\s+(?P<name>[A-Za-z]\w*)\(`), documented,
			lines.Rule{Pattern: lines.Pattern(`typedef\s+(?:struct|union|enum)(?:\s+\w+)?\s*(?:\{|$)`), Closes: true},
			lines.Declare(surface.Type, `typedef\s.*\(\s*\*\s*NAME\)`), lines.Declare(surface.Type, `typedef\s.*[\s*]NAME(?:\[.*\])?;`),
			lines.Rule{Kind: surface.Module, Pattern: lines.Pattern(`(?:inline\s+)?namespace\s+(?P<name>[\w:]+)`), Opens: true, Through: true},
			lines.Declare(surface.Variable, `extern\s[^(]*[\s*]NAME(?:\[.*\])?;`),
			call(surface.Function, `[A-Za-z_][\w\s*&:<>,\[\]]*[\s*&]`)),
		Inside: append(types[:3:3], call(surface.Method, `(?:[\w\s*&:<>,~\[\]]*[\s*&])?`))}
	joined("::", g.Outside, g.Inside)
	return g
})
