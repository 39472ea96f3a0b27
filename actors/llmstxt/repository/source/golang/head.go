package golang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
)

// Head gives the package clause and the imports as far as the head shows them: a Go file names both before anything
// else. A generator kept out of the build has no package, nor has a list of tools.
func Head(head []byte) (name string, imports []string) {
	if isBuildIgnored(head) {
		return "", nil
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", head, parser.ImportsOnly|parser.SkipObjectResolution)
	if file == nil || file.Name == nil || file.Name.Name == "_" || listsTools(file) {
		return "", nil
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports = append(imports, path)
		}
	}
	return file.Name.Name, slices.Clip(imports)
}

// listsTools holds for a file that only keeps tools among what its module needs.
func listsTools(file *ast.File) bool {
	return file.Name.Name == "tools" && len(file.Imports) > 0 &&
		!slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Name == nil || s.Name.Name != "_" })
}

func isBuildIgnored(head []byte) bool {
	return bytes.Contains(head, []byte("//go:build ignore")) &&
		regexp.MustCompile(`(?m)^//go:build ignore\s*$`).Match(head)
}
