package language

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

func RustImports(line string) []string {
	line = strings.TrimPrefix(line, "pub ")
	if name, ok := strings.CutPrefix(line, "mod "); ok && strings.HasSuffix(name, ";") {
		return []string{"./" + strings.TrimSuffix(name, ";")}
	}
	rest, ok := strings.CutPrefix(line, "use ")
	if !ok {
		return nil
	}
	rest = strings.TrimRight(strings.NewReplacer("::", "/", ";", "").Replace(rest), "/ ")
	head, names, grouped := strings.Cut(rest, "{")
	head = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(head, "crate/"), "super/"), "/")
	list := []string{head, path.Dir(head)}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return !prose.IsIdent(r) }) {
		if grouped && len(list) < 12 {
			list = append(list, path.Join(head, name))
		}
	}
	return list
}

func RustFolders(file, unit string) []string {
	return []string{strings.TrimSuffix(file, path.Ext(file)), path.Dir(file), path.Join(unit, "src")}
}
