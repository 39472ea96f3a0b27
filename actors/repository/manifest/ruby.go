package manifest

import (
	"cmp"
	"strings"
)

func rubySyntax() syntax { return syntax{line: []string{"#"}, quotes: `"'`, words: "-"} }

// rubySpec reads "spec.name = literal" lines of a gemspec or a podspec.
type rubySpec struct{ toks []token }

// value is the literal assigned to the attribute.
func (s rubySpec) value(name string) string {
	rest := s.after(name)
	for i := range rest {
		switch {
		case rest[i].kind == str:
			if strings.Contains(rest[i].text, "#{") {
				return ""
			}
			return rest[i].text
		case i > 1 || !strings.Contains("=([", rest[i].text):
			return ""
		}
	}
	return ""
}

// made gives the literals of Gem::Specification.new "name", "version".
func (s rubySpec) made() (name, version string) {
	for i := range s.toks {
		if i < 2 || !s.toks[i].is(word, "new") || !s.toks[i-2].is(word, "Specification") {
			continue
		}
		rest := s.toks[i+1:]
		if len(rest) > 0 && rest[0].is(mark, "(") {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].kind != str {
			return "", ""
		}
		if len(rest) > 2 && rest[1].is(mark, ",") && rest[2].kind == str {
			version = rest[2].text
		}
		return rest[0].text, version
	}
	return "", ""
}

// list gives all literals of the statement, those of %w[a b] included.
func (s rubySpec) list(name string) []string {
	rest := s.after(name)
	var out []string
	percent := false
	for i, t := range rest {
		if i > 0 && t.line > rest[0].line+20 || t.is(mark, "]") {
			break
		}
		percent = percent || t.is(mark, "%")
		if t.kind == str || percent && t.kind == word && t.text != "w" {
			out = append(out, t.text)
		}
		if i+1 < len(rest) && rest[i+1].line > t.line && !percent && t.kind != mark {
			break
		}
	}
	return out
}

// after is what follows ".name =" or ".name <<".
func (s rubySpec) after(name string) []token {
	for i := range s.toks {
		if i > 0 && i+2 < len(s.toks) && s.toks[i].is(word, name) && s.toks[i-1].is(mark, ".") &&
			(s.toks[i+1].is(mark, "=") || s.toks[i+1].is(mark, "<")) {
			return s.toks[i+1 : min(i+200, len(s.toks))]
		}
	}
	return nil
}

// calls gives the first literal of every ".name literal".
func (s rubySpec) calls(names ...string) []string {
	var out []string
	for i, t := range s.toks {
		for _, name := range names {
			if !t.is(word, name) || i == 0 || !s.toks[i-1].is(mark, ".") {
				continue
			}
			for j := i + 1; j < min(i+3, len(s.toks)); j++ {
				if s.toks[j].kind == str {
					out = append(out, s.toks[j].text)
					break
				}
			}
		}
	}
	return out
}

func readGemspec(m *Manifest, text string) error {
	s := rubySpec{lex(text, rubySyntax())}
	name, version := s.made()
	m.Name, m.Version = cmp.Or(s.value("name"), name), cmp.Or(s.value("version"), version)
	m.Description = cmp.Or(s.value("summary"), s.value("description"))
	m.Homepage = s.value("homepage")
	m.License = cmp.Or(s.value("license"), s.value("licenses"))
	m.requires("Ruby", s.value("required_ruby_version"))
	for i, t := range s.toks {
		if t.kind == str && t.text == "source_code_uri" && i+4 < len(s.toks) {
			m.Repository = cmp.Or(strs(s.toks[i+1 : i+5])...)
		}
	}
	m.Dependencies = s.calls("add_dependency", "add_runtime_dependency")
	bin := cmp.Or(s.value("bindir"), "bin")
	for _, name := range s.list("executables") {
		m.command(name)
		m.entry(bin + "/" + name)
	}
	if m.Name != "" {
		m.entry("lib/"+m.Name+".rb", "lib/"+strings.ReplaceAll(m.Name, "-", "/")+".rb")
	}
	return nil
}

func readPodspec(m *Manifest, text string) error {
	s := rubySpec{lex(text, rubySyntax())}
	m.Name, m.Version = s.value("name"), s.value("version")
	m.Description = cmp.Or(s.value("summary"), s.value("description"))
	m.Homepage, m.License = s.value("homepage"), s.value("license")
	for i, t := range s.after("source") {
		if t.is(word, "git") && i < 12 {
			m.Repository = cmp.Or(strs(s.after("source")[i:min(i+4, len(s.after("source")))])...)
		}
	}
	m.Dependencies = s.calls("dependency")
	return nil
}
