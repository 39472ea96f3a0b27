package golang

import (
	"bytes"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
)

// Head gives the package clause and the imports as far as the head shows them: a Go file names both before anything
// else. A generator kept out of the build has no package.
func Head(head []byte) (name string, imports []string) {
	if isBuildIgnored(head) {
		return "", nil
	}
	file, _ := parser.ParseFile(token.NewFileSet(), "", head, parser.ImportsOnly|parser.SkipObjectResolution)
	if file == nil || file.Name == nil || file.Name.Name == "_" {
		return "", nil
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports = append(imports, path)
		}
	}
	return file.Name.Name, slices.Clip(imports)
}

func isBuildIgnored(head []byte) bool {
	return bytes.Contains(head, []byte("//go:build ignore")) &&
		regexp.MustCompile(`(?m)^//go:build ignore\s*$`).Match(head)
}
