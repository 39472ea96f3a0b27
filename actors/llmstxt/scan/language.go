package scan

import (
	"path"
	"strings"
)

// Language names the programming or markup language of a file by its name, or "" when that does not tell.
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
	case ".sh", ".bash", ".zsh", ".ksh", ".fish", ".bats":
		return "Shell"
	case ".pl", ".pm":
		return "Perl"
	case ".ps1", ".psm1":
		return "PowerShell"
	case ".proto":
		return "Protocol Buffers"
	case ".sql":
		return "SQL"
	case ".vue":
		return "Vue"
	case ".svelte":
		return "Svelte"
	}
	return rarer(strings.ToLower(path.Ext(name)))
}

func rarer(ext string) string {
	switch ext {
	case ".groovy", ".gvy":
		return "Groovy"
	case ".fs", ".fsi", ".fsx":
		return "F#"
	case ".vb":
		return "Visual Basic"
	case ".mm":
		return "Objective-C"
	case ".d":
		return "D"
	case ".nim":
		return "Nim"
	case ".cr":
		return "Crystal"
	case ".gleam":
		return "Gleam"
	case ".elm":
		return "Elm"
	case ".purs":
		return "PureScript"
	case ".res", ".resi":
		return "ReScript"
	case ".sol":
		return "Solidity"
	case ".move":
		return "Move"
	case ".cu", ".cuh":
		return "CUDA"
	case ".f90", ".f95", ".f03", ".f08":
		return "Fortran"
	case ".adb", ".ads":
		return "Ada"
	case ".pas":
		return "Pascal"
	case ".rkt":
		return "Racket"
	case ".scm", ".ss":
		return "Scheme"
	case ".lisp":
		return "Common Lisp"
	case ".el":
		return "Emacs Lisp"
	case ".vim":
		return "Vim script"
	case ".tcl":
		return "Tcl"
	case ".awk":
		return "Awk"
	case ".raku", ".rakumod":
		return "Raku"
	case ".hx":
		return "Haxe"
	case ".odin":
		return "Odin"
	case ".sv", ".svh":
		return "SystemVerilog"
	case ".vhd", ".vhdl":
		return "VHDL"
	case ".tf":
		return "Terraform"
	case ".nix":
		return "Nix"
	case ".graphql", ".gql":
		return "GraphQL"
	case ".thrift":
		return "Thrift"
	case ".capnp":
		return "Cap'n Proto"
	case ".fbs":
		return "FlatBuffers"
	}
	return ""
}
