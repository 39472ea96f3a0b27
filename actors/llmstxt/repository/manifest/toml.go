package manifest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// mostKeys bounds the keys that are read of one file, because go-toml compares each key with all others of its table.
const mostKeys = 5_000

// parseTOML parses a file. Before a fault it returns the tables up to there, and an error.
func parseTOML(text string) (object, error) {
	if rest := strings.SplitAfterN(text, "=", mostKeys+1); len(rest) > mostKeys {
		read := text[:len(text)-len(rest[mostKeys])]
		text = read[:strings.LastIndexByte(read, '\n')+1]
	}
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	t := make(map[string]any)
	err := toml.Unmarshal([]byte(text), &t)
	at, rest := make(map[string]int), -len(text) // position where a key first begins a line, counted from the end of the text
	for l := range strings.Lines(text) {
		key, _, _ := strings.Cut(l, "=")
		if key = strings.Trim(strings.TrimSpace(key), `"`); at[key] == 0 {
			at[key] = rest
		}
		rest += len(l)
	}
	o, _ := tomlValue(t, at).(object)
	return o, err
}

// tomlValue puts keys that begin lines in their order, and the others after them.
func tomlValue(value any, at map[string]int) any {
	switch v := value.(type) {
	case map[string]any:
		o := object{}
		for key, value := range v {
			o = append(o, member{key, tomlValue(value, at)})
		}
		slices.SortStableFunc(o, func(a, b member) int {
			return cmp.Or(cmp.Compare(at[a.key], at[b.key]), strings.Compare(a.key, b.key))
		})
		return o
	case []any:
		for i := range v {
			v[i] = tomlValue(v[i], at)
		}
	}
	return value
}

func readCargo(f *file, text string) error {
	t, err := f.tree(parseTOML, text)
	if f.Name == "" {
		return err
	}
	f.entry(cmp.Or(t.text("lib/path"), "src/lib.rs"))
	for _, bin := range t.objects("bin") {
		name := bin.text("name")
		f.command(name)
		f.entry(cmp.Or(bin.text("path"), "src/bin/"+name+".rs"))
	}
	f.entry("src/main.rs")
	return err
}
