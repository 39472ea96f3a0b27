package lab_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems is make other-systems. It checks the types of all packages and their tests as they are on other
// systems. Nothing is compiled, and of what they import the bodies of functions are left out, which takes a tenth of the
// time; make release compiles all.
func TestOtherSystems(t *testing.T) {
	systems := strings.Fields(os.Getenv("LASTWORD_SYSTEMS"))
	if len(systems) == 0 {
		t.Skip("make other-systems runs this")
	}
	ours, err := filepath.Abs(root)
	must(t, err)
	for _, system := range systems {
		t.Run(system, func(t *testing.T) {
			all, err := packages.Load(&packages.Config{
				Mode:    packages.LoadAllSyntax,
				Env:     append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
				Dir:     root,
				Tests:   true,
				Context: t.Context(),
				ParseFile: func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
					file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
					for i := 0; err == nil && i < len(file.Decls) && !strings.HasPrefix(name, ours); i++ {
						if f, ok := file.Decls[i].(*ast.FuncDecl); ok {
							f.Body = nil
						}
					}
					return file, err
				},
			}, "./...")
			must(t, err)
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, fault := range p.Errors {
					if fault.Kind != packages.TypeError || strings.HasPrefix(fault.Pos, ours) {
						t.Error(fault)
					}
				}
			})
		})
	}
}
