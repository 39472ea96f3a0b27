package lab_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems is make other-systems. It checks the types of all packages, their tests, and what they import, as they
// are on other systems: nothing is compiled, which takes a tenth of the time.
func TestOtherSystems(t *testing.T) {
	systems := strings.Fields(os.Getenv("LASTWORD_SYSTEMS"))
	if len(systems) == 0 {
		t.Skip("make other-systems runs this")
	}
	for _, system := range systems {
		t.Run(system, func(t *testing.T) {
			all, err := packages.Load(&packages.Config{
				Mode:    packages.LoadAllSyntax,
				Env:     append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
				Dir:     "../..",
				Tests:   true,
				Context: t.Context(),
			}, "./...")
			must(t, err)
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, fault := range p.Errors {
					t.Error(fault)
				}
			})
		})
	}
}
