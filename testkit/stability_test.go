package testkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
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

// bare are calls that wait for a pipe, read without a bound, or carry headers to another origin. The packages
// internal/regular and internal/dial have what to call instead.
var bare = map[string]bool{
	"os.Open": true, "os.OpenFile": true, "os.ReadFile": true, "os.OpenRoot": true, "os.DirFS": true,
	"http.Client": true, "http.Transport": true, "http.DefaultClient": true, "http.DefaultTransport": true,
	"http.Get": true, "http.Post": true, "http.PostForm": true, "http.Head": true,
}

// allowed are functions that call one anyway, and why they may.
var allowed = map[string]string{
	"internal/atomicfile Change os.OpenRoot":                 "its path ends with a separator: only a folder opens",
	"internal/command outOfMemory os.ReadFile":               "/proc/vmstat",
	"cmd/internal/guardian lockFolder os.Open":               "its path ends with a separator: only a folder opens",
	"cmd/internal/guardian Start os.OpenFile":                "/dev/null",
	"cmd/internal/guardian childrenOf os.ReadFile":           "/proc",
	"cmd/internal/guardian statOf os.ReadFile":               "/proc",
	"cmd/internal/guardian markedBy os.ReadFile":             "/proc",
	"cmd/internal/guardian find os.ReadFile":                 "/proc and /sys/fs/cgroup",
	"cmd/internal/guardian make os.Open":                     "a folder that it has made in /sys/fs/cgroup",
	"cmd/internal/guardian kill os.ReadFile":                 "/sys/fs/cgroup",
	"cmd/lastword write os.OpenFile":                         "makes a new file",
	"cmd/lastword writeBackup os.OpenFile":                   "makes a new file",
	"transport/repository/internal/git OpenFile os.OpenFile": "opens by regular.Flags, and checks what it has opened",
	"transport/repository/internal/git openHTTP http.Client": "counts what the client of package dial reads",
	"transport/llm (all) http.Client":                        "its transport is of package dial, and it follows no redirect",
	"internal/probe Run http.Client":                         "closes idle connections alone",
	"transport/sqlite lockDir os.OpenFile":                   "O_RDWR waits for no pipe",
	"transport/sqlite open os.OpenFile":                      "O_RDWR waits for no pipe",
}

// TestNamedFilesAndClients holds that all files which somebody names are read by one reader, and that all requests leave
// by one client.
func TestNamedFilesAndClients(t *testing.T) {
	used := map[string]bool{}
	for _, top := range []string{"actors", "cmd", "internal", "messages", "supervision", "transport"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(name string, d fs.DirEntry, err error) error {
			pkg := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), ".."+string(filepath.Separator)))
			if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") ||
				pkg == "internal/regular" || pkg == "internal/dial" || pkg == "cmd/lastword/package" || slices.Contains(forTests, pkg) { // tools of ours, for our own files
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				where := "(all)"
				if f, ok := decl.(*ast.FuncDecl); ok {
					where = f.Name.Name
				}
				ast.Inspect(decl, func(n ast.Node) bool {
					if _, pointer := n.(*ast.StarExpr); pointer {
						return false
					}
					s, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if from, ok := s.X.(*ast.Ident); ok && bare[from.Name+"."+s.Sel.Name] {
						call := from.Name + "." + s.Sel.Name
						id := pkg + " " + where + " " + call
						if allowed[id] == "" {
							id = pkg + " (all) " + call
						}
						if used[id] = true; allowed[id] == "" {
							t.Errorf("%s: %s calls %s; read named files by internal/regular, and make clients by internal/dial", name, where, call)
						}
					}
					return true
				})
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for id := range allowed {
		if !used[id] {
			t.Errorf("nothing needs the exception for %s", id)
		}
	}
}
