package graph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// anyRepository has few names, so that files import each other, and hostile texts.
func anyRepository() *rapid.Generator[fstest.MapFS] {
	return rapid.Custom(func(t *rapid.T) fstest.MapFS {
		folder := rapid.SampledFrom([]string{"a", "A", "b", "a.b", "src", "lib", "aux", "root", "é [x]", "x~y", "v1"})
		base := rapid.SampledFrom([]string{"a.go", "b.go", "__init__.py", "a.py", "index.ts", "a.js", "lib.rs", "A.java",
			"a.h", "a.c", "a.rb", "A.php", "A.cs", "a.ex", "go.mod", "package.json", "Cargo.toml", "odd)name.js", "a.sh"})
		files := fstest.MapFS{}
		for range rapid.IntRange(1, 14).Draw(t, "files") {
			dirs := rapid.SliceOfN(folder, 0, 3).Draw(t, "folder")
			name := path.Join(append(dirs, base.Draw(t, "base"))...)
			if _, taken := files[name]; !taken && !above(files, name) {
				files[name] = &fstest.MapFile{Data: []byte(anySource(t, path.Base(name))), Mode: 0o644}
			}
		}
		return files
	})
}

// above tells a name that would have to be a folder and a file.
func above(files fstest.MapFS, name string) bool {
	for other := range files {
		if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return true
		}
	}
	return false
}

func anySource(t *rapid.T, base string) string {
	name := rapid.SampledFrom([]string{"a", "b", "a/b", "../a", "./a", ".", "..", "a.b", "crate", "example.com/m/a",
		"github.com/x/y/z", "@s/p", "../../..", "é", "a`b", "src/a", "a/a.h", "[x](y)"}).Draw(t, "name")
	doc := rapid.SampledFrom([]string{"", "Package a says that it is a package of some kind.",
		"](x) <b> `\u202e\x1b[31m # x",
		"gh" + "p_" + strings.Repeat("a", 36) + " is the token of this package."}).Draw(t, "doc")
	switch path.Ext(base) {
	case ".go":
		return "// " + doc + "\npackage a\n\nimport \"" + name + "\"\n\n// X " + doc + "\nconst X = \"" + doc + "\"\n"
	case ".py":
		return "\"\"\"" + doc + "\"\"\"\nfrom " + name + " import b\nimport " + name + "\n\ndef f(): pass\n"
	case ".ts", ".js":
		return "/** " + doc + " */\nimport x from '" + name + "';\nexport function f() {}\n"
	case ".mod":
		return "module example.com/m\n\nrequire github.com/x/y v1.0.0\n"
	case ".json":
		said, err := json.Marshal(map[string]any{"name": name + "/" + doc, "description": doc,
			"dependencies": map[string]string{name: "1", "d/" + doc: "1"}})
		must(t, err)
		return string(said)
	case ".toml":
		return fmt.Sprintf("[package]\nname = \"a\"\n[dependencies]\n%q = \"1\"\n", name)
	case ".c", ".h":
		return "/* " + doc + " */\n#include \"" + name + "\"\nint f(void);\n"
	}
	return "// " + doc + "\nuse " + name + ";\nimport " + name + ";\nrequire '" + name + "'\nusing " + name + ";\n"
}

var target = regexp.MustCompile(`\]\(([^)]*)\)`)

// Whatever a repository holds: ids are unique without regard to case, both ends of each edge exist, links lead from
// page to page, each relation is told on both, nothing steers a terminal, no secret is in it, and its bytes are the
// same again.
func TestWhateverThereIs(t *testing.T) {
	valid := ofSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		files := anyRepository().Draw(t, "repository")
		g := build(t, files, scan.Origin{}, graph.Options{})
		list := written(t, g) // which checks ids and edges
		again := written(t, build(t, files, scan.Origin{}, inParallel()))
		if !bytes.Equal(txtar.Format(&txtar.Archive{Files: list}), txtar.Format(&txtar.Archive{Files: again})) {
			t.Fatal("not the same bytes again")
		}
		must(t, valid(list[0].Data))
		var d graph.Document
		must(t, json.Unmarshal(list[0].Data, &d))
		pages := map[string]string{}
		for _, f := range list {
			if strings.Contains(string(f.Data), "gh"+"p_") {
				t.Fatalf("%s holds the token", f.Name)
			}
			if id, ok := strings.CutPrefix(f.Name, "want/nodes/"); ok {
				pages[strings.TrimSuffix(id, ".md")] = string(f.Data)
			}
		}
		linked(t, d, pages)
	})
}

func linked(t *rapid.T, d graph.Document, pages map[string]string) {
	names := map[string]bool{}
	want := map[string]map[string]bool{}
	for _, n := range d.Nodes {
		low := strings.ToLower(n.ID)
		if names[low] || n.Page != (n.Kind == graph.Package) || n.Page != (pages[n.ID] != "") {
			t.Fatalf("node %+v", n)
		}
		names[low], want[n.ID] = true, map[string]bool{}
	}
	for _, e := range d.Edges {
		if e.From == e.To || e.Weight < 1 {
			t.Fatalf("edge %+v", e)
		}
		if pages[e.To] != "" {
			want[e.From][e.To], want[e.To][e.From] = true, true
		}
	}
	for id, text := range pages {
		got := map[string]bool{}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "- [") {
				to := strings.TrimSuffix(target.FindStringSubmatch(line)[1], ".md")
				if pages[to] == "" {
					t.Fatalf("%s leads to %s, which is no page:\n%s", id, to, line)
				}
				got[to] = true
			}
		}
		if !maps.Equal(got, want[id]) {
			t.Fatalf("%s leads to %v, its edges to %v\n%s", id, slices.Collect(maps.Keys(got)), want[id], text)
		}
	}
}

// What ids promise: made of the path alone, fit for files and URLs of any system.
func TestIDs(t *testing.T) {
	files := fstest.MapFS{}
	want := map[string]string{".": "root", "a/b": "a.b", "a.b": "a~b", "v1.2/x-y_z": "v1~2.x-y_z", "@s/c++": "@s.c++",
		"é": "_~4a99557e", "aux/x": "aux.x~49c7f917", "com1.x": "com1~x", "Sub": "Sub", "sub": "sub~ddc6e2b2",
		strings.Repeat("long/", 40) + "x": ""}
	for dir := range want {
		files[path.Join(dir, "x.go")] = &fstest.MapFile{Data: []byte("package x\n"), Mode: 0o644}
	}
	g := build(t, files, scan.Origin{}, graph.Options{})
	for _, n := range g.Nodes {
		if id := want[n.Path]; id != "" && n.ID != id || !graph.IsPage("nodes/"+n.ID+".md") {
			t.Errorf("%s is %s, want %s", n.Path, n.ID, id)
		}
	}
	if len(g.Nodes) != len(want)-1 { // one is deeper than the scan goes
		t.Errorf("%d nodes", len(g.Nodes))
	}
}

func TestIsPage(t *testing.T) {
	for name, want := range map[string]bool{"nodes/a.b~c.md": true, "nodes/root.md": true, "nodes/.md": false,
		"nodes/..md": false, "nodes/../x.md": false, "nodes/a/b.md": false, "nodes/a.txt": false, "a.md": false,
		"nodes/a b.md": false, "nodes/é.md": false, "nodes/" + strings.Repeat("x", 200) + ".md": false} {
		if graph.IsPage(name) != want {
			t.Errorf("IsPage(%q) is %v", name, !want)
		}
	}
}

// A crowd of packages: the largest have pages, and a fact says that the others have none.
func TestCrowd(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 2003 {
		text := "package x\n" + strings.Repeat("\n", i)
		files[fmt.Sprintf("p%04d/x.go", i)] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	g := build(t, files, scan.Origin{}, graph.Options{})
	pages := g.Pages()
	if g.Stats.Packages != 2003 || g.Stats.Pages != 2000 || len(pages) != 2000 || pages[0].Name != "nodes/p0003.md" {
		t.Errorf("%+v, the first page is %s", g.Stats, pages[0].Name)
	}
	if len(g.Facts) != 1 || !strings.HasPrefix(g.Facts[0], "the smallest 3 packages have no page") {
		t.Errorf("facts %q", g.Facts)
	}
}

// What is forged in a cache or by a fault is not written.
func TestChecksRefuse(t *testing.T) {
	for _, bad := range []string{`{}`, `[`, `{"version":"lastword.graph/1","nodes":[{"id":"../x"}]}`,
		`{"version":"lastword.graph/1","nodes":[{"id":"a"},{"id":"a"}]}`, `{"version":"lastword.graph/2"}`,
		`{"version":"lastword.graph/1","nodes":[{"id":"a"}],"edges":[{"from":"a","to":"b"}]}`,
		`{"version":"lastword.graph/1","more":1}`, "{\"version\":\"lastword.graph/1\",\"title\":\"\u202e\"}"} {
		if graph.Check([]byte(bad)) == nil {
			t.Errorf("%s passes", bad)
		}
	}
	for _, bad := range []string{`[]`, `{"nodes":[{"id":"a"}],"links":[{"source":"a","target":"b"}]}`, "\xff"} {
		if graph.CheckForce([]byte(bad)) == nil {
			t.Errorf("%s passes", bad)
		}
	}
	for _, bad := range []string{"", "# x\n", graph.Mark + "\x1b[31m", graph.Mark + "\xff", graph.Mark + "\u200b"} {
		if graph.CheckPage([]byte(bad)) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

const schemaFile = "../../../../docs/graph.schema.json"

// schema describes the Go types: the published one is made from them.
func schema(t *testing.T) []byte {
	t.Helper()
	s, err := jsonschema.For[graph.Document](nil)
	must(t, err)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "repo.graph.json, " + graph.Version
	text, err := json.MarshalIndent(s, "", "  ")
	must(t, err)
	return append(text, '\n')
}

func TestSchemaIsPublished(t *testing.T) {
	want := schema(t)
	if *update {
		must(t, os.WriteFile(schemaFile, want, 0o644))
	}
	if got, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not the schema of the Go types (%v); run the test with -update", schemaFile, err)
	}
}

// ofSchema gives what reports whether a repo.graph.json is of its schema.
func ofSchema(t *testing.T) func(data []byte) error {
	t.Helper()
	published, err := validator.UnmarshalJSON(bytes.NewReader(schema(t)))
	must(t, err)
	compiler := validator.NewCompiler()
	must(t, compiler.AddResource("graph.schema.json", published))
	valid, err := compiler.Compile("graph.schema.json")
	must(t, err)
	return func(data []byte) error {
		said, err := validator.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return valid.Validate(said)
	}
}
