package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// lispSyntax: words run up to a bracket, a quote or a space.
func lispSyntax() syntax { return syntax{line: []string{";"}, quotes: `"`, words: "-+*/.:!?<>=&~@^$"} }

// form is the rest of the first list that begins with the word, of those that are in no other.
func form(toks tokens, name string) tokens {
	for i, t := range toks {
		if toks.has(i, "(", name) && t.deep <= toks[0].deep {
			return toks.group(i)[1:]
		}
	}
	return nil
}

func flat(toks tokens) string {
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
	p := form(toks, "package")
	field := func(key string) string { return cmp.Or(flat(form(toks, key)), flat(form(p, key))) }
	m.Name, m.Version, m.License = field("name"), field("version"), field("license")
	m.Description, m.Homepage = field("synopsis"), field("homepage")
	if source := form(toks, "source"); len(source) > 2 {
		m.Repository = source[1].text + ":" + source[2].text
	}
	deps := form(p, "depends")
	for _, t := range deps {
		switch {
		case t.is(":with-test"), t.is(":with-doc"), t.is(":with-dev-setup"):
			m.Dependencies = m.Dependencies[:max(0, len(m.Dependencies)-1)]
		case t.kind == word && t.deep-deps[0].deep <= 1 && !strings.ContainsAny(t.text[:1], ":<>=&"):
			m.Dependencies = append(m.Dependencies, t.text)
		}
	}
	m.Dependencies = slices.DeleteFunc(m.Dependencies, func(s string) bool { return s == "and" || s == "or" })
	return nil
}

func readRacket(m *Manifest, text string) error {
	toks := lex(strings.ReplaceAll(text, "#lang", ";"), lispSyntax())
	value := func(key string) tokens {
		if i := toks.find("(", "define", key); i >= 0 {
			return toks.group(i)[2:]
		}
		return nil
	}
	m.Name, m.Version = flat(value("collection")), flat(value("version"))
	m.Description, m.License = flat(value("pkg-desc")), flat(value("license"))
	m.Dependencies = value("deps").strs()
	return nil
}

func readOpam(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, triple: true, words: "-"})
	field := func(key string) string { return literalAfter(toks, key, ":") }
	base := m.Path[strings.LastIndexByte(m.Path, '/')+1:]
	m.Name = cmp.Or(field("name"), strings.TrimSuffix(strings.TrimSuffix(base, "opam"), "."))
	m.Version, m.License = field("version"), field("license")
	m.Description = cmp.Or(field("synopsis"), field("description"))
	m.Homepage, m.Repository = field("homepage"), field("dev-repo")
	if i := toks.find("depends", ":", "["); i >= 0 {
		m.opamDependencies(toks.group(i + 2))
	}
	return nil
}

// opamDependencies passes over the conditions in braces.
func (m *Manifest) opamDependencies(toks tokens) {
	for i := 0; i < len(toks); i++ {
		if toks[i].is("{") {
			i += len(toks.group(i))
		} else if toks[i].kind == str {
			m.Dependencies = append(m.Dependencies, toks[i].text)
		}
	}
}
