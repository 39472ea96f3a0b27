package manifest

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads the first document without following aliases, which could stand for more than memory holds.
func parseYAML(text string) (object, error) {
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.NewDecoder(strings.NewReader(text)).Decode(&n); err != nil {
		return topLines(text), err
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) == 0 {
		return nil, nil
	}
	o, _ := yamlValue(n.Content[0], 0).(object)
	return o, nil
}

func yamlValue(n *yaml.Node, level int) any {
	if level > depth {
		return nil
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return nil
		}
		return n.Value
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, yamlValue(c, level+1))
		}
		return list
	case yaml.MappingNode:
		o := object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			o = append(o, member{n.Content[i].Value, yamlValue(n.Content[i+1], level+1)})
		}
		return o
	}
	return nil
}

// topLines gives the plain "key: value" lines of a file that is no valid YAML.
func topLines(text string) object {
	var o object
	for l := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimRight(l, "\n"), ": ")
		if ok && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_-") == "" {
			o = append(o, member{key, strings.Trim(strings.TrimSpace(value), `"'`)})
		}
	}
	return o
}

func readPubspec(m *Manifest, text string) error {
	o, err := parseYAML(text)
	m.Name, m.Version, m.Description = o.text("name"), o.text("version"), o.text("description")
	m.Homepage, m.Repository = o.text("homepage"), o.text("repository")
	m.Private = o.text("publish_to") == "none"
	m.Members = o.texts("workspace")
	m.requires("Dart", o.object("environment").text("sdk"))
	m.Dependencies = o.object("dependencies").keys()
	for _, e := range o.object("executables") {
		file, _ := e.value.(string)
		m.command(e.key)
		m.entry("bin/" + cmp.Or(file, e.key) + ".dart")
	}
	if m.Name != "" {
		m.entry("lib/" + m.Name + ".dart")
	}
	return err
}

func readChart(m *Manifest, text string) error {
	o, err := parseYAML(text)
	m.Name, m.Version, m.Description = o.text("name"), o.text("version"), o.text("description")
	m.Homepage = o.text("home")
	for _, d := range o.objects("dependencies") {
		m.Dependencies = append(m.Dependencies, d.text("name"))
	}
	return err
}

func readGalaxy(m *Manifest, text string) error {
	o, err := parseYAML(text)
	if o.text("namespace") != "" && o.text("name") != "" {
		m.Name = o.text("namespace") + "." + o.text("name")
	}
	m.Version, m.Description = o.text("version"), o.text("description")
	m.Repository, m.Homepage = o.text("repository"), o.text("homepage")
	m.License = cmp.Or(append(o.texts("license"), o.text("license"))...)
	m.Dependencies = o.object("dependencies").keys()
	return err
}

func readHpack(m *Manifest, text string) error {
	o, err := parseYAML(text)
	m.Name, m.Version, m.License = o.text("name"), o.text("version"), o.text("license")
	m.Description = cmp.Or(o.text("synopsis"), o.text("description"))
	m.Homepage = o.text("homepage")
	m.Repository = cmp.Or(o.text("github"), o.text("git"))
	for _, d := range append(o.texts("dependencies"), o.object("library").texts("dependencies")...) {
		m.Dependencies = append(m.Dependencies, firstWord(d))
	}
	for _, e := range o.object("executables") {
		sub, _ := e.value.(object)
		m.command(e.key)
		dir := cmp.Or(append([]string{sub.text("source-dirs")}, sub.texts("source-dirs")...)...)
		if sub.text("main") != "" {
			m.entry(dir + "/" + sub.text("main"))
		}
	}
	return err
}

func firstWord(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t<>=^~!;[({,"); i >= 0 {
		return s[:i]
	}
	return s
}
