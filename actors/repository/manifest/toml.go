package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// table is a TOML table. Lookups of what is absent or of another type are empty.
type table map[string]any

// parseTOML gives the tables read before a fault, too.
func parseTOML(text string) (table, error) {
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	t := make(map[string]any)
	err := toml.Unmarshal([]byte(text), &t)
	return t, err
}

func (t table) text(key string) string {
	s, _ := t[key].(string)
	return s
}

// table follows a path of keys.
func (t table) table(keys ...string) table {
	for _, key := range keys {
		sub, _ := t[key].(map[string]any)
		t = sub
	}
	return t
}

func (t table) texts(key string) []string { return texts(t[key]) }

func (t table) tables(key string) []table {
	list, _ := t[key].([]any)
	var out []table
	for _, v := range list {
		if sub, ok := v.(map[string]any); ok {
			out = append(out, sub)
		}
	}
	return out
}

// keys are in the order in which the text has them at the start of a line.
func (t table) keys(text string) []string {
	at := make(map[string]int)
	for key := range t {
		at[key] = len(text)
		for _, start := range []string{"\n" + key + " ", "\n" + key + "=", "\n\"" + key + "\""} {
			if i := strings.Index(text, start); i >= 0 {
				at[key] = min(at[key], i)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		return cmp.Or(cmp.Compare(at[a], at[b]), strings.Compare(a, b))
	})
}

func readCargo(m *Manifest, text string) error {
	t, err := parseTOML(text)
	p, shared := t.table("package"), t.table("workspace", "package")
	field := func(key string) string { return cmp.Or(p.text(key), shared.text(key)) }
	m.Name = p.text("name")
	m.Version, m.Description, m.License = field("version"), field("description"), field("license")
	m.Repository, m.Homepage = field("repository"), cmp.Or(field("homepage"), field("documentation"))
	m.requires("Rust", field("rust-version"))
	m.Private = p["publish"] == false
	m.Members = t.table("workspace").texts("members")
	for _, x := range t.table("workspace").texts("exclude") {
		m.Members = append(m.Members, "!"+x)
	}
	m.Dependencies = slices.Collect(maps.Keys(t.table("dependencies")))
	m.cargoTargets(t)
	return err
}

func (m *Manifest) cargoTargets(t table) {
	if m.Name == "" {
		return
	}
	m.entry(cmp.Or(t.table("lib").text("path"), "src/lib.rs"))
	for _, bin := range t.tables("bin") {
		name := bin.text("name")
		m.command(name)
		m.entry(cmp.Or(bin.text("path"), "src/bin/"+name+".rs"))
	}
	m.entry("src/main.rs")
}

func readJulia(m *Manifest, text string) error {
	t, err := parseTOML(text)
	m.Name, m.Version, m.Description, m.License = t.text("name"), t.text("version"), t.text("desc"), t.text("license")
	m.requires("Julia", t.table("compat").text("julia"))
	m.Dependencies = slices.Collect(maps.Keys(t.table("deps")))
	m.Members = t.table("workspace").texts("projects")
	if m.Name != "" {
		m.entry("src/" + m.Name + ".jl")
	}
	return err
}
