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

// Head returns the package name and the imports, as far as the head contains them; Go files have both at the
// beginning. A file that is excluded from the build, or that only lists tools, has no package.
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

// listsTools reports whether a file only keeps tools among its module's dependencies.
func listsTools(file *ast.File) bool {
	return file.Name.Name == "tools" && len(file.Imports) > 0 &&
		!slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Name == nil || s.Name.Name != "_" })
}

func isBuildIgnored(head []byte) bool {
	return bytes.Contains(head, []byte("//go:build ignore")) &&
		regexp.MustCompile(`(?m)^//go:build ignore\s*$`).Match(head)
}
