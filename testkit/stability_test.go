package testkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	mostPublic   = 60
	mostPromised = 20
	mostNames    = 1500
)

var publicRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| (.+) \\|$")

// listed returns the rows of docs/stability.md for packages, and those that the page promises.
func listed(t *testing.T) (all, promised []string) {
	page, err := os.ReadFile("../docs/stability.md")
	must(t, err)
	_, section, _ := strings.Cut(string(page), "\n## Go packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range publicRow.FindAllStringSubmatch(section, -1) {
		all = append(all, row[1])
		if !strings.HasPrefix(row[2], "inner, no promise") {
			promised = append(promised, row[1])
		}
	}
	return all, promised
}

// TestPublicPackages holds that docs/stability.md lists what a program can import, and says what is promised.
func TestPublicPackages(t *testing.T) {
	all, promised := listed(t)
	public := map[string]bool{}
	for _, src := range readModule(t) {
		if !src.test && !inLab(src.pkg) && !slices.Contains(strings.Split(src.pkg, "/"), "internal") {
			public[src.pkg] = true
		}
	}
	for pkg := range public {
		if !slices.Contains(all, pkg) {
			t.Errorf("docs/stability.md does not list %s: add its promise or the words inner, no promise", pkg)
		}
	}
	for _, pkg := range all {
		if !public[pkg] {
			t.Errorf("docs/stability.md lists %s, which nobody can import", pkg)
		}
	}
	names := 0
	for _, src := range readModule(t) {
		if !src.test && !src.main && public[src.pkg] {
			names += exported(t, filepath.Join("..", src.path))
		}
	}
	if names > mostNames {
		t.Errorf("programs outside see %d names, %d are the most: unexport those without a user outside", names, mostNames)
	}
	if len(public) > mostPublic || len(promised) > mostPromised {
		t.Errorf("%d packages can be imported and %d are promised; %d and %d are the most", len(public), len(promised), mostPublic, mostPromised)
	}
}

// exported returns how many names of a file programs outside can use, without deprecated ones.
func exported(t *testing.T, name string) (n int) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	must(t, err)
	ast.FileExports(file)
	ast.Inspect(file, func(node ast.Node) bool {
		switch d := node.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")) {
				n += count(d.Doc, 1)
			}
			return false
		case *ast.TypeSpec:
			n += count(d.Doc, 1)
		case *ast.ValueSpec:
			n += count(d.Doc, len(d.Names))
		case *ast.GenDecl:
			return count(d.Doc, 1) > 0
		}
		return true
	})
	return n
}

func count(doc *ast.CommentGroup, n int) int {
	if strings.Contains(doc.Text(), "Deprecated:") {
		return 0
	}
	return n
}

// TestPromisesNamePromises holds that no signature of a promised package names a type of a package without a promise.
func TestPromisesNamePromises(t *testing.T) {
	_, promised := listed(t)
	for _, pkg := range promised {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		must(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			must(t, err)
			foreign := map[string]string{}
			for _, spec := range file.Imports {
				imp, _ := strconv.Unquote(spec.Path.Value)
				if rel, ours := strings.CutPrefix(imp, module+"/"); ours && !slices.Contains(promised, rel) {
					as := path.Base(rel)
					if spec.Name != nil {
						as = spec.Name.Name
					}
					foreign[as] = rel
				}
			}
			for _, signature := range signatures(file) {
				ast.Inspect(signature, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := s.X.(*ast.Ident); ok && foreign[x.Name] != "" {
							t.Errorf("%s is promised, and %s names %s of %s, which is not", pkg, path.Base(name), s.Sel.Name, foreign[x.Name])
						}
					}
					return true
				})
			}
		}
	}
}

// signatures returns the types that a user of the file's package sees: of functions, methods and exported fields. An
// alias gives a type a name in its own package.
func signatures(file *ast.File) (all []ast.Node) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(strings.TrimLeft(receiver(d.Recv.List[0].Type), "*"))) {
				all = append(all, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && !s.Assign.IsValid() {
					all = append(all, seen(s.Type)...)
				}
			}
		}
	}
	return all
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func seen(e ast.Expr) (all []ast.Node) {
	s, ok := e.(*ast.StructType)
	if !ok {
		return []ast.Node{e}
	}
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 || field.Names[0].IsExported() {
			all = append(all, field.Type)
		}
	}
	return all
}

// mostLayers is the length that the longest chain of imports may have.
const mostLayers = 11

// house is what each package outside the lab imports of this module.
type house map[string]map[string]bool

func houseOf(sources []source) house {
	h := house{}
	for _, src := range sources {
		if src.test || inLab(src.pkg) {
			continue
		}
		if h[src.pkg] == nil {
			h[src.pkg] = map[string]bool{}
		}
		for _, imp := range src.imports {
			if rel, ours := strings.CutPrefix(imp, module+"/"); ours {
				h[src.pkg][rel] = true
			}
		}
	}
	return h
}

// chains returns for each package the longest chain of imports that begins with it, the first by name of several.
func (h house) chains() map[string][]string {
	all := map[string][]string{}
	var from func(pkg string) []string
	from = func(pkg string) []string {
		if all[pkg] == nil {
			var longest []string
			for _, imp := range slices.Sorted(maps.Keys(h[pkg])) {
				if chain := from(imp); len(chain) > len(longest) {
					longest = chain
				}
			}
			all[pkg] = append([]string{pkg}, longest...)
		}
		return all[pkg]
	}
	for pkg := range h {
		from(pkg)
	}
	return all
}

// TestLayers holds how many packages a change may have to pass from the bottom to the top.
func TestLayers(t *testing.T) {
	for pkg, chain := range houseOf(readModule(t)).chains() {
		if len(chain) > mostLayers {
			t.Errorf("%s has %d layers, and %d are the most: %s", pkg, len(chain), mostLayers, strings.Join(chain, " > "))
		}
	}
}

// layers says in which layers a room's packages are. A package without imports is in layer 1.
func layers(chains map[string][]string, pkgs []string) string {
	low, high := mostLayers+1, 0
	for _, pkg := range pkgs {
		low, high = min(low, len(chains[pkg])), max(high, len(chains[pkg]))
	}
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}
