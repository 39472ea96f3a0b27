package manifest

import (
	"cmp"
	"slices"
	"strings"
)

func rubySyntax() syntax { return syntax{line: []string{"#"}, quotes: `"'`, words: "-"} }

// rubySpec reads "spec.name = literal" lines of a gemspec or a podspec.
type rubySpec struct{ tokens }

// value is the literal assigned to the attribute.
func (s rubySpec) value(name string) string {
	rest := s.after(name)
	for i, t := range rest {
		switch {
		case t.kind == str && !strings.Contains(t.text, "#{"):
			return t.text
		case i > 1 || t.kind == str || !strings.Contains("=([", t.text):
			return ""
		}
	}
	return ""
}

// made gives the literals of Gem::Specification.new "name", "version".
func (s rubySpec) made() (name, version string) {
	i := s.find("Specification", ".", "new") + 3
	if s.has(i, "(") {
		i++
	}
	if i < 3 || s.at(i).kind != str {
		return "", ""
	}
	if s.has(i+1, ",") && s.at(i+2).kind == str {
		version = s.at(i + 2).text
	}
	return s.at(i).text, version
}

// list gives all literals of the statement, those of %w[a b] included.
func (s rubySpec) list(name string) []string {
	rest := s.after(name)
	var out []string
	percent := false
	for i, t := range rest {
		if i > 0 && t.line > rest[0].line+20 || t.is("]") {
			break
		}
		percent = percent || t.is("%")
		if t.kind == str || percent && t.kind == word && t.text != "w" {
			out = append(out, t.text)
		}
		if rest.at(i+1).line > t.line && !percent && t.kind != mark {
			break
		}
	}
	return out
}

// after is what follows ".name =" or ".name <<".
func (s rubySpec) after(name string) tokens {
	for i := range s.tokens {
		if s.has(i, ".", name, "=") || s.has(i, ".", name, "<") {
			return s.tokens[i+2 : min(i+201, len(s.tokens))]
		}
	}
	return nil
}

// literals gives the first one of every ".name literal".
func (s rubySpec) literals(names ...string) []string {
	var out []string
	for i, t := range s.tokens {
		if !s.has(i-1, ".") || t.kind == str || !slices.Contains(names, t.text) {
			continue
		}
		next := s.tokens[i+1 : min(i+3, len(s.tokens))].strs()
		out = append(out, next[:min(len(next), 1)]...)
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
	for i, t := range s.tokens {
		if t.kind == str && t.text == "source_code_uri" {
			m.Repository = cmp.Or(s.tokens[i+1 : min(i+5, len(s.tokens))].strs()...)
		}
	}
	m.Dependencies = s.literals("add_dependency", "add_runtime_dependency")
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
	source := s.after("source")
	if i := source.find("git"); i >= 0 && i < 12 {
		m.Repository = cmp.Or(source[i:min(i+4, len(source))].strs()...)
	}
	m.Dependencies = s.literals("dependency")
	return nil
}
