package scan

import (
	"path"
	"strings"
)

// Language names the programming or markup language of a file by its name, or
// "" when that does not tell.
func Language(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return "Go"
	case ".py", ".pyi":
		return "Python"
	case ".js", ".mjs", ".cjs", ".jsx":
		return "JavaScript"
	case ".ts", ".mts", ".cts", ".tsx":
		return "TypeScript"
	case ".rs":
		return "Rust"
	case ".java":
		return "Java"
	case ".kt", ".kts":
		return "Kotlin"
	case ".scala":
		return "Scala"
	case ".c", ".h":
		return "C"
	case ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx":
		return "C++"
	case ".cs":
		return "C#"
	case ".swift":
		return "Swift"
	case ".rb":
		return "Ruby"
	case ".php":
		return "PHP"
	case ".ex", ".exs":
		return "Elixir"
	case ".erl", ".hrl":
		return "Erlang"
	case ".hs":
		return "Haskell"
	case ".ml", ".mli":
		return "OCaml"
	case ".clj", ".cljs", ".cljc":
		return "Clojure"
	case ".lua":
		return "Lua"
	case ".zig":
		return "Zig"
	case ".dart":
		return "Dart"
	case ".jl":
		return "Julia"
	case ".r":
		return "R"
	case ".s", ".asm":
		return "Assembly"
	case ".sh", ".bash", ".zsh":
		return "Shell"
	case ".proto":
		return "Protocol Buffers"
	case ".sql":
		return "SQL"
	case ".vue":
		return "Vue"
	case ".svelte":
		return "Svelte"
	}
	return ""
}
