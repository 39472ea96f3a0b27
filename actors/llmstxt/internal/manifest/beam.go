package manifest

import (
	"cmp"
	"strings"
)

// readMix reads a mix.exs. A value may be a literal, an attribute, or a function of the file: see mixValue.
func readMix(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, triple: true})
	if i := toks.find("app", ":", ":"); i >= 0 {
		f.Name = toks.at(i + 3).text
	}
	f.fill(func(key string) string { return mixValue(toks, key) })
	for i, t := range toks { // {:name, "~> 1.0", …}, unless it is only for some environments
		if t.deep > depth || !toks.has(i, "{", ":") || !toks.has(i+3, ",") {
			continue
		}
		args := toks.group(i)
		if args.find("only", ":") < 0 && args.at(1).kind == word && args.at(3).kind != mark && len(args) > 3 {
			f.Dependencies = append(f.Dependencies, args[1].text)
		}
	}
	if i := toks.find("licenses", ":", "["); i >= 0 {
		f.License = cmp.Or(toks.group(i + 2).strs()...)
	}
	f.Private = toks.find("package") < 0 // Hex requires a package function
	if apps := mixValue(toks, "apps_path"); apps != "" {
		f.Members = []string{apps + "/*"}
	}
	return nil
}

// mixValue returns the literal of "key: literal", of an @key that is given instead, or of the function of that name.
func mixValue(toks tokens, key string) string {
	for i := range toks {
		switch {
		case toks.has(i, key, ":") && toks.at(i+2).kind == str:
			return toks[i+2].text
		case toks.has(i, key, ":", "@"):
			return literalAfter(toks, "@", toks.at(i+3).text)
		case toks.has(i-1, "defp", key), toks.has(i-1, "def", key):
			after := toks[i+1 : min(i+7, len(toks))]
			if s := literalAfter(after, "do"); s != "" {
				return s
			}
		}
	}
	return literalAfter(toks, "@", key)
}

// literalAfter returns the first literal after the words and marks.
func literalAfter(toks tokens, texts ...string) string {
	for i := range toks {
		if s := toks.literal(i + len(texts)); s != "" && toks.has(i, texts...) {
			return s
		}
	}
	return ""
}

func erlangSyntax() syntax { return syntax{line: []string{"%"}, quotes: `"'`} }

// erlangTerm returns the value in {key, value}: adjacent literals, or a word.
func erlangTerm(toks tokens, key string) tokens {
	if i := toks.find("{", key, ","); i >= 0 {
		return toks.group(i)[2:]
	}
	return nil
}

// readRebar reads a rebar.config. A dependency is an atom in the list deps, or the first element of a tuple in it.
func readRebar(f *file, text string) error {
	toks := lex(text, erlangSyntax())
	deps := erlangTerm(toks, "deps")
	for i, t := range deps {
		if level := t.deep - deps[0].deep; t.kind == word && (level == 1 || level == 2 && deps.has(i-1, "{")) {
			f.Dependencies = append(f.Dependencies, t.text)
		}
	}
	f.command(erlangTerm(toks, "escript_name").at(0).text)
	return nil
}

// readAppSrc reads an .app.src. Of its links, a bare host is the homepage, and one with two segments the repository.
func readAppSrc(f *file, text string) error {
	toks := lex(text, erlangSyntax())
	f.Name = erlangTerm(toks, "application").at(0).text
	f.License = cmp.Or(erlangTerm(toks, "licenses").strs()...)
	f.fill(func(key string) string { return strings.Join(erlangTerm(toks, key).strs(), "") })
	f.Private = f.License == "" // Hex requires a licence
	for _, link := range erlangTerm(toks, "links").strs() {
		switch strings.Count(strings.TrimSuffix(link, "/"), "/") {
		case 2:
			f.Homepage = cmp.Or(f.Homepage, link)
		case 4:
			f.Repository = cmp.Or(f.Repository, link)
		}
	}
	for _, t := range erlangTerm(toks, "applications") {
		if t.kind == word && t.text != "kernel" && t.text != "stdlib" {
			f.Dependencies = append(f.Dependencies, t.text)
		}
	}
	return nil
}
