package language

import (
	"path"
	"strings"
)

// ScriptImports reads imports of JavaScript, and of languages with embedded or similar scripts.
func ScriptImports(line string) []string {
	for _, mark := range []string{" from ", "require(", "import(", "import ", "export '", "export \"", "} from"} {
		i := strings.Index(line, mark)
		if i < 0 {
			continue
		}
		rest := line[i+len(mark)-1:]
		if strings.Contains(mark, "from") && strings.IndexAny(strings.TrimSpace(rest[1:]), `'"`) != 0 {
			continue // a variable with that name
		}
		if s := between(rest, `'"`, `'"`); s != "" {
			return []string{s}
		}
	}
	return nil
}

func ScriptReexports(line string) []string {
	if rest, ok := strings.CutPrefix(line, "export * from"); ok {
		return []string{between(rest, `'"`, `'"`)}
	}
	return nil
}

func ScriptFolders(_, unit string) []string {
	return []string{path.Join(unit, "src"), unit, path.Join(unit, "src/lib"), "src", "."}
}

// NodePackage splits an import into the package's name and the path within the package.
func NodePackage(spec string) (name, rest string) {
	parts := strings.SplitN(spec, "/", 3)
	if spec[0] == '@' && len(parts) > 1 {
		return parts[0] + "/" + parts[1], strings.Join(parts[2:], "/")
	}
	return parts[0], strings.Join(parts[1:], "/")
}

// IsNodePackage reports whether npm accepts the name.
func IsNodePackage(name string) bool {
	return len(name) < 215 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./@") == "" &&
		strings.Trim(name, "@/.") != "" && name != "@" && !strings.HasPrefix(name, "@/")
}
