package javascript

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
)

// Imports also reads the imports of languages that are written in scripts, or like them.
func Imports(line string) []string {
	for _, mark := range []string{" from ", "require(", "import(", "import ", "export '", "export \"", "} from"} {
		i := strings.Index(line, mark)
		if i < 0 {
			continue
		}
		rest := line[i+len(mark)-1:]
		if strings.Contains(mark, "from") && strings.IndexAny(strings.TrimSpace(rest[1:]), `'"`) != 0 {
			continue // a variable of that name
		}
		if s := language.Between(rest, `'"`, `'"`); s != "" {
			return []string{s}
		}
	}
	return nil
}

func reexports(line string) []string {
	if rest, ok := strings.CutPrefix(line, "export * from"); ok {
		return []string{language.Between(rest, `'"`, `'"`)}
	}
	return nil
}

// IsLibrary knows the modules that come with Node.
func IsLibrary(name string) bool {
	switch name {
	case "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
		"diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net",
		"os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
		"string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
		"worker_threads", "zlib":
		return true
	}
	return false
}

func folders(_, unit string) []string {
	return []string{path.Join(unit, "src"), unit, path.Join(unit, "src/lib"), "src", "."}
}

// Package splits an import into the name of a package and the path in it.
func Package(spec string) (name, rest string) {
	parts := strings.SplitN(spec, "/", 3)
	if spec[0] == '@' && len(parts) > 1 {
		return parts[0] + "/" + parts[1], strings.Join(parts[2:], "/")
	}
	return parts[0], strings.Join(parts[1:], "/")
}

// IsPackage tells a name that npm takes.
func IsPackage(name string) bool {
	return len(name) < 215 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./@") == "" &&
		strings.Trim(name, "@/.") != "" && name != "@" && !strings.HasPrefix(name, "@/")
}
