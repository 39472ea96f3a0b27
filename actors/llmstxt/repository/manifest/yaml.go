package manifest

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML parses the first document. It does not follow aliases, which could expand to more than memory holds.
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

// topLines returns the plain "key: value" lines of a file that is not valid YAML.
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
