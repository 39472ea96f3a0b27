package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// rubySpec reads "spec.name = literal" lines of a gemspec or a podspec.
type rubySpec struct{ tokens }

// value returns the literal that is assigned to the attribute.
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

// made returns the literals of Gem::Specification.new "name", "version".
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

// list returns the assigned literals, including those of %w[a b]. It returns none for values that code computes.
func (s rubySpec) list(name string) []string {
	rest := s.after(name)
	i := 1
	if rest.has(0, "<", "<") {
		i = 2
	}
	percent := rest.has(i, "%", "w")
	switch {
	case rest.at(i).kind == str:
		return []string{rest.at(i).text}
	case percent:
		i += 2
	case !rest.has(i, "["):
		return nil
	}
	var out []string
	for _, t := range rest.group(i) {
		if t.kind == str || percent && t.kind == word {
			out = append(out, t.text)
		}
	}
	return out
}

// after returns the tokens after ".name =" or ".name <<".
func (s rubySpec) after(name string) tokens {
	for i := range s.tokens {
		if s.has(i, ".", name, "=") || s.has(i, ".", name, "<") {
			return s.tokens[i+2 : min(i+201, len(s.tokens))]
		}
	}
	return nil
}

// literals returns the first literal of every ".name literal".
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

// readRuby reads a gemspec or a podspec.
func readRuby(f *file, text string) error {
	s := rubySpec{lex(text, syntax{line: []string{"#"}, quotes: `"'`, words: "-"})}
	f.fill(s.value)
	name, version := s.made()
	f.Name, f.Version = cmp.Or(f.Name, name), cmp.Or(f.Version, version)
	for i, t := range s.tokens {
		if t.kind == str && t.text == "source_code_uri" {
			f.Repository = cmp.Or(s.tokens[i+1 : min(i+5, len(s.tokens))].strs()...)
		}
	}
	source := s.after("source")
	if i := source.find("git"); i >= 0 && i < 12 {
		f.Repository = cmp.Or(source[i:min(i+4, len(source))].strs()...)
	}
	f.Dependencies = s.literals("add_dependency", "add_runtime_dependency", "dependency")
	f.command(s.list("executables")...)
	return nil
}
