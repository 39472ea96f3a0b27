package scan

import (
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// goHead gives the package clause and the imports as far as the head shows them: a Go file names both before anything
// else. A generator kept out of the build has no package.
func goHead(head []byte) (name string, imports []string) {
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
