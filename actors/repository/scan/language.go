package scan

import (
	"path"
	"strings"
)

// languages by the extensions of their files.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".jsx": "JavaScript", ".ts": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript", ".tsx": "TypeScript",
	".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".kts": "Kotlin", ".scala": "Scala", ".c": "C", ".h": "C",
	".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".hxx": "C++", ".cs": "C#",
	".swift": "Swift", ".rb": "Ruby", ".php": "PHP", ".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang",
	".hrl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".mli": "OCaml", ".clj": "Clojure", ".cljs": "Clojure",
	".cljc": "Clojure", ".lua": "Lua", ".zig": "Zig", ".dart": "Dart", ".jl": "Julia", ".r": "R", ".s": "Assembly",
	".asm": "Assembly", ".sh": "Shell", ".bash": "Shell", ".zsh": "Shell", ".ksh": "Shell", ".fish": "Shell",
	".bats": "Shell", ".pl": "Perl", ".pm": "Perl", ".ps1": "PowerShell", ".psm1": "PowerShell",
	".proto": "Protocol Buffers", ".sql": "SQL", ".vue": "Vue", ".svelte": "Svelte", ".groovy": "Groovy",
	".gvy": "Groovy", ".fs": "F#", ".fsi": "F#", ".fsx": "F#", ".vb": "Visual Basic", ".mm": "Objective-C", ".d": "D",
	".nim": "Nim", ".cr": "Crystal", ".gleam": "Gleam", ".elm": "Elm", ".purs": "PureScript", ".res": "ReScript",
	".resi": "ReScript", ".sol": "Solidity", ".move": "Move", ".cu": "CUDA", ".cuh": "CUDA", ".f90": "Fortran",
	".f95": "Fortran", ".f03": "Fortran", ".f08": "Fortran", ".adb": "Ada", ".ads": "Ada", ".pas": "Pascal",
	".rkt": "Racket", ".scm": "Scheme", ".ss": "Scheme", ".lisp": "Common Lisp", ".el": "Emacs Lisp",
	".vim": "Vim script", ".tcl": "Tcl", ".awk": "Awk", ".raku": "Raku", ".rakumod": "Raku", ".hx": "Haxe",
	".odin": "Odin", ".sv": "SystemVerilog", ".svh": "SystemVerilog", ".vhd": "VHDL", ".vhdl": "VHDL",
	".tf": "Terraform", ".nix": "Nix", ".graphql": "GraphQL", ".gql": "GraphQL", ".thrift": "Thrift",
	".capnp": "Cap'n Proto", ".fbs": "FlatBuffers",
}

// Language names the programming or markup language of a file by its name, or "" when that does not tell.
func Language(name string) string { return languages[strings.ToLower(path.Ext(name))] }
