package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
