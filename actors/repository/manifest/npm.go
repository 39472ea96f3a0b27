package manifest

import (
	"cmp"
	"fmt"
	"strings"
)

func readPackageJSON(m *Manifest, text string) error {
	o, err := parseJSON(text)
	m.Name, m.Version, m.Description = o.text("name"), o.text("version"), o.text("description")
	m.Homepage, m.Commit = o.text("homepage"), hexCommit(o.text("gitHead"))
	m.License = npmLicense(o)
	m.Private, _ = o.get("private").(bool)
	m.requires("Node.js", o.object("engines").text("node"))
	switch r := o.get("repository").(type) {
	case string:
		m.Repository = r
	case object:
		m.Repository, m.Directory = r.text("url"), r.text("directory")
	}
	m.Dependencies = append(o.object("dependencies").keys(), o.object("peerDependencies").keys()...)
	m.Members = append(o.texts("workspaces"), o.object("workspaces").texts("packages")...)
	m.npmEntries(o)
	for _, s := range o.object("scripts") {
		command, _ := s.value.(string)
		m.script(s.key, command)
	}
	return err
}

func npmLicense(o object) string {
	license := cmp.Or(o.text("license"), o.object("license").text("type"))
	for _, l := range o.objects("licenses") {
		license = cmp.Or(license, l.text("type"))
	}
	return license
}

// npmEntries lists what is imported first, then what is run, then types.
func (m *Manifest) npmEntries(o object) {
	m.entry(o.text("source"))
	if len(m.Entries) > 0 || o.get("exports") == nil {
		m.entry(o.text("main"), o.text("module"))
	}
	m.exports(o.get("exports"), 0)
	m.entry(o.text("main"), o.text("module"), o.text("browser"))
	switch bin := o.get("bin").(type) {
	case string:
		m.entry(bin)
		m.command(m.Name[strings.LastIndexByte(m.Name, '/')+1:])
	case object:
		for _, b := range bin {
			if p, ok := b.value.(string); ok {
				m.entry(p)
				m.command(b.key)
			}
		}
	}
	m.entry(o.text("types"), o.text("typings"))
}

// exports takes the paths out of the nested conditions, in their order.
func (m *Manifest) exports(value any, level int) {
	if level > 8 {
		return
	}
	switch v := value.(type) {
	case string:
		m.entry(v)
	case []any:
		for _, item := range v {
			m.exports(item, level+1)
		}
	case object:
		for _, item := range v {
			m.exports(item.value, level+1)
		}
	}
}

func hexCommit(s string) string {
	if len(s) < 7 || len(s) > 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

func readPnpm(m *Manifest, text string) error {
	o, err := parseYAML(text)
	m.Members = o.texts("packages")
	return err
}

func readDeno(m *Manifest, text string) error {
	if strings.Contains(m.Path, "jsr.json") {
		m.Ecosystem = "jsr"
	}
	o, err := parseJSON(text)
	m.Name, m.Version, m.Description = o.text("name"), o.text("version"), o.text("description")
	m.License = o.text("license")
	m.exports(o.get("exports"), 0)
	m.Members = append(o.texts("workspace"), o.object("workspace").texts("members")...)
	m.Dependencies = o.object("imports").keys()
	for _, t := range o.object("tasks") {
		switch v := t.value.(type) {
		case string:
			m.script(t.key, v)
		case object:
			m.script(t.key, v.text("command"))
		}
	}
	return err
}

func readComposer(m *Manifest, text string) error {
	o, err := parseJSON(text)
	m.Name, m.Version, m.Description = o.text("name"), o.text("version"), o.text("description")
	m.Homepage = o.text("homepage")
	m.License = cmp.Or(o.text("license"), strings.Join(o.texts("license"), " or "))
	m.Repository = o.object("support").text("source")
	for _, name := range o.object("require").keys() {
		switch {
		case name == "php":
			m.Requires = "PHP " + o.object("require").text(name)
		case strings.Contains(name, "/"):
			m.Dependencies = append(m.Dependencies, name)
		}
	}
	for _, bin := range o.texts("bin") {
		m.entry(bin)
		m.command(bin[strings.LastIndexByte(bin, '/')+1:])
	}
	m.entry(o.object("autoload").texts("files")...)
	for _, s := range o.object("scripts") {
		command, _ := s.value.(string)
		m.script(s.key, cmp.Or(command, strings.Join(texts(s.value), " && ")))
	}
	return err
}

// checkNesting keeps from a parser that recurses what would take its stack.
func checkNesting(text string) error {
	level, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{', '(':
			level++
			most = max(most, level)
		case ']', '}', ')':
			level--
		}
	}
	if most > 4*depth {
		return fmt.Errorf("brackets are nested %d deep", most)
	}
	return nil
}
