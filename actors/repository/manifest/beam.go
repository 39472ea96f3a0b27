package manifest

import (
	"cmp"
	"slices"
	"strings"
)

func readMix(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, triple: true})
	value := func(key string) string { return mixValue(toks, key) }
	for i, t := range toks {
		if t.is(word, "app") && i+3 < len(toks) && toks[i+1].is(mark, ":") && toks[i+2].is(mark, ":") && m.Name == "" {
			m.Name = toks[i+3].text
		}
		if t.is(mark, "{") && i+3 < len(toks) && toks[i+1].is(mark, ":") && toks[i+3].is(mark, ",") {
			m.mixDependency(toks, i)
		}
	}
	m.Version, m.Description = value("version"), value("description")
	m.Repository, m.Homepage = value("source_url"), value("homepage_url")
	m.License = cmp.Or(strs(mixList(toks, "licenses"))...)
	m.Private = !slices.ContainsFunc(toks, func(t token) bool { return t.is(word, "package") }) // which Hex asks for
	m.requires("Elixir", value("elixir"))
	if apps := value("apps_path"); apps != "" {
		m.Members = []string{apps + "/*"}
	}
	if m.Name != "" {
		m.entry("lib/" + m.Name + ".ex")
	}
	return nil
}

// mixDependency takes {:name, "~> 1.0", …} unless it is for some environments only.
func (m *Manifest) mixDependency(toks []token, i int) {
	args := group(toks, i)
	for j, t := range args {
		if t.is(word, "only") && j+1 < len(args) && args[j+1].is(mark, ":") {
			return
		}
	}
	if len(args) > 3 && args[1].kind == word && (args[3].kind == str || args[3].kind == word) {
		m.Dependencies = append(m.Dependencies, args[1].text)
	}
}

// mixValue is the literal of "key: literal", or of @key where that is given instead, or of the function of that name.
func mixValue(toks []token, key string) string {
	for i := range toks {
		if !toks[i].is(word, key) || i+2 >= len(toks) {
			continue
		}
		switch next := toks[i+1]; {
		case next.is(mark, ":") && toks[i+2].kind == str:
			return toks[i+2].text
		case next.is(mark, ":") && toks[i+2].is(mark, "@") && i+3 < len(toks):
			return attribute(toks, toks[i+3].text)
		case i > 0 && (toks[i-1].is(word, "defp") || toks[i-1].is(word, "def")):
			if s := functionText(toks[i+1:]); s != "" {
				return s
			}
		}
	}
	return attribute(toks, key)
}

func functionText(toks []token) string {
	for i, t := range toks[:min(5, len(toks))] {
		if t.is(word, "do") && i+1 < len(toks) && toks[i+1].kind == str {
			return toks[i+1].text
		}
	}
	return ""
}

func attribute(toks []token, name string) string {
	for i := 1; i+1 < len(toks); i++ {
		if toks[i].is(word, name) && toks[i-1].is(mark, "@") && toks[i+1].kind == str {
			return toks[i+1].text
		}
	}
	return ""
}

func mixList(toks []token, key string) []token {
	for i := range toks {
		if toks[i].is(word, key) && i+2 < len(toks) && toks[i+1].is(mark, ":") && toks[i+2].is(mark, "[") {
			return group(toks, i+2)
		}
	}
	return nil
}

func erlangSyntax() syntax { return syntax{line: []string{"%"}, quotes: `"'`} }

// erlangTerm is the value in {key, value}: literals joined, or a word.
func erlangTerm(toks []token, key string) []token {
	for i := 1; i+1 < len(toks); i++ {
		if toks[i].is(word, key) && toks[i-1].is(mark, "{") && toks[i+1].is(mark, ",") {
			return group(toks, i-1)[2:]
		}
	}
	return nil
}

func readRebar(m *Manifest, text string) error {
	toks := lex(text, erlangSyntax())
	deps := erlangTerm(toks, "deps")
	level := 0
	for i, t := range deps {
		switch {
		case t.kind == mark && strings.Contains("[{", t.text):
			level++
		case t.kind == mark && strings.Contains("]}", t.text):
			level--
		case t.kind == word && (level == 1 || level == 2 && deps[i-1].is(mark, "{")):
			m.Dependencies = append(m.Dependencies, t.text)
		}
	}
	if name := erlangTerm(toks, "escript_name"); len(name) > 0 {
		m.command(name[0].text)
	}
	return nil
}

func readAppSrc(m *Manifest, text string) error {
	toks := lex(text, erlangSyntax())
	if app := erlangTerm(toks, "application"); len(app) > 0 {
		m.Name = app[0].text
	}
	m.Description = strings.Join(strs(erlangTerm(toks, "description")), "")
	m.Version = strings.Join(strs(erlangTerm(toks, "vsn")), "")
	m.License = cmp.Or(strs(erlangTerm(toks, "licenses"))...)
	m.Private = m.License == "" // which Hex asks for
	for _, link := range strs(erlangTerm(toks, "links")) {
		switch strings.Count(strings.TrimSuffix(link, "/"), "/") {
		case 2:
			m.Homepage = cmp.Or(m.Homepage, link)
		case 4:
			m.Repository = cmp.Or(m.Repository, link)
		}
	}
	for _, t := range erlangTerm(toks, "applications") {
		if t.kind == word && t.text != "kernel" && t.text != "stdlib" {
			m.Dependencies = append(m.Dependencies, t.text)
		}
	}
	return nil
}
