package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// lispSyntax: words run up to a bracket, a quote or a space.
func lispSyntax() syntax { return syntax{line: []string{";"}, quotes: `"`, words: "-+*/.:!?<>=&~@^$"} }

// form is the rest of the first list that begins with the word, at most so deep.
func form(toks []token, name string, deep int) []token {
	level := 0
	for i, t := range toks {
		switch {
		case t.is(mark, "("):
			level++
		case t.is(mark, ")"):
			level--
		case t.is(word, name) && level <= deep && i > 0 && toks[i-1].is(mark, "("):
			return group(toks, i-1)[1:]
		}
	}
	return nil
}

func flat(toks []token) string {
	var parts []string
	for _, t := range toks {
		if t.kind != mark {
			parts = append(parts, t.text)
		}
	}
	return strings.Join(parts, " ")
}

func readDune(m *Manifest, text string) error {
	toks := lex(text, lispSyntax())
	p := form(toks, "package", 1)
	m.Name = cmp.Or(flat(form(toks, "name", 1)), flat(form(p, "name", 1)))
	m.Version, m.License = flat(form(toks, "version", 1)), flat(form(toks, "license", 1))
	m.Description = cmp.Or(flat(form(toks, "synopsis", 1)), flat(form(p, "synopsis", 1)))
	m.Homepage = flat(form(toks, "homepage", 1))
	if source := form(toks, "source", 1); len(source) > 2 {
		m.Repository = source[1].text + ":" + source[2].text
	}
	level := 0
	for _, t := range form(p, "depends", 1) {
		switch {
		case t.is(mark, "("):
			level++
		case t.is(mark, ")"):
			level--
		case t.is(word, ":with-test") || t.is(word, ":with-doc") || t.is(word, ":with-dev-setup"):
			m.Dependencies = m.Dependencies[:max(0, len(m.Dependencies)-1)]
		case t.kind == word && level <= 1 && !strings.ContainsAny(t.text[:1], ":<>=&"):
			m.Dependencies = append(m.Dependencies, t.text)
		}
	}
	m.Dependencies = slices.DeleteFunc(m.Dependencies, func(s string) bool { return s == "and" || s == "or" })
	return nil
}

func readRacket(m *Manifest, text string) error {
	toks := lex(strings.ReplaceAll(text, "#lang", ";"), lispSyntax())
	for i := range toks {
		if !toks[i].is(word, "define") || i+2 >= len(toks) || i == 0 {
			continue
		}
		value := group(toks, i-1)[1:]
		if len(value) < 2 {
			continue
		}
		switch rest := value[1:]; value[0].text {
		case "collection":
			m.Name = flat(rest)
		case "version":
			m.Version = flat(rest)
		case "pkg-desc":
			m.Description = flat(rest)
		case "license":
			m.License = flat(rest)
		case "deps":
			m.Dependencies = strs(rest)
		}
	}
	return nil
}

func readOpam(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, triple: true, words: "-"})
	field := func(key string) string {
		for i := range toks {
			if toks[i].is(word, key) && i+2 < len(toks) && toks[i+1].is(mark, ":") && toks[i+2].kind == str {
				return toks[i+2].text
			}
		}
		return ""
	}
	base := m.Path[strings.LastIndexByte(m.Path, '/')+1:]
	m.Name = cmp.Or(field("name"), strings.TrimSuffix(strings.TrimSuffix(base, "opam"), "."))
	m.Version, m.License = field("version"), field("license")
	m.Description = cmp.Or(field("synopsis"), field("description"))
	m.Homepage, m.Repository = field("homepage"), field("dev-repo")
	for i := range toks {
		if toks[i].is(word, "depends") && i+2 < len(toks) && toks[i+2].is(mark, "[") {
			m.opamDependencies(group(toks, i+2))
		}
	}
	return nil
}

// opamDependencies passes over the conditions in braces.
func (m *Manifest) opamDependencies(toks []token) {
	level := 0
	for _, t := range toks {
		switch {
		case t.is(mark, "{"):
			level++
		case t.is(mark, "}"):
			level--
		case t.kind == str && level == 0:
			m.Dependencies = append(m.Dependencies, t.text)
		}
	}
}
