package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// readRuby reads lines of the form "spec.name = literal" of a gemspec or a podspec.
func readRuby(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"'`, words: "-"})
	f.fill(func(key string) string {
		value := toks.assigned(key)
		if t := value.past(1, "(["); value.has(0, "=") && t.kind == str && !strings.Contains(t.text, "#{") {
			return t.text
		}
		return ""
	})
	if i := toks.find("Specification", ".", "new"); i >= 0 { // Gem::Specification.new "name", "version"
		made := toks[i+3 : min(i+8, len(toks))]
		if made.has(0, "(") {
			made = made[1:]
		}
		f.Name = cmp.Or(f.Name, made.literal(0))
		if made.has(1, ",") && made.at(0).kind == str {
			f.Version = cmp.Or(f.Version, made.literal(2))
		}
	}
	for i, t := range toks {
		if t.kind == str && t.text == "source_code_uri" {
			f.Repository = cmp.Or(toks[i+1 : min(i+5, len(toks))].strs()...)
		}
	}
	source := toks.assigned("source")
	if i := source.find("git"); i >= 0 && i < 12 {
		f.Repository = cmp.Or(source[i:min(i+4, len(source))].strs()...)
	}
	calls := []string{"add_dependency", "add_runtime_dependency", "dependency"}
	for i, t := range toks {
		if toks.has(i-1, ".") && t.kind != str && slices.Contains(calls, t.text) {
			next := toks[i+1 : min(i+3, len(toks))].strs()
			f.Dependencies = append(f.Dependencies, next[:min(len(next), 1)]...)
		}
	}
	f.command(rubyList(toks.assigned("executables"))...)
	return nil
}

// assigned returns the tokens from the sign of ".name =" or ".name <<" on.
func (toks tokens) assigned(name string) tokens {
	for i := range toks {
		if toks.has(i, ".", name, "=") || toks.has(i, ".", name, "<") {
			return toks[i+2 : min(i+201, len(toks))]
		}
	}
	return nil
}

// rubyList returns the assigned literals, including those of %w[a b]. It returns none for values that code computes.
func rubyList(value tokens) []string {
	i := 1
	if value.has(0, "<", "<") {
		i = 2
	}
	words := value.has(i, "%", "w")
	switch {
	case value.at(i).kind == str:
		return []string{value[i].text}
	case words:
		i += 2
	case !value.has(i, "["):
		return nil
	}
	var out []string
	for _, t := range value.group(i) {
		if t.kind == str || words && t.kind == word {
			out = append(out, t.text)
		}
	}
	return out
}
