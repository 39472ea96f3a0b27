package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// stablePackages are the packages that docs/stability.md promises.
var stablePackages = []string{"actors", "actors/durable", "actors/journal", "actors/llmstxt", "messages", "messages/model", "supervision",
	"supervision/fault", "testkit", "transport/door", "transport/door/transcript",
	"transport/http", "transport/http/client", "transport/mcp", "transport/nats", "transport/sqlite", "transport/web"}

// public is what others rely on, one line each.
type public struct{ lines []string }

func (p *public) add(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// "what others rely on changes only where the golden file changes": a line that goes is a break, as docs/stability.md says.
func TestPublicSurface(t *testing.T) {
	var p public
	root := rootCommand(new(host.Program))
	p.flags(root)
	for _, k := range settings.KeysOf(root) {
		p.add("setting %s", k.Name)
		if may, _ := k.Project(); may {
			p.add("a project may set %s", k.Name)
		}
	}
	for _, v := range settings.Variables() {
		p.add("variable %s", v.Name)
	}
	server := serveHTTP(t, t.TempDir(), "--ephemeral")
	_, document := server.get("/openapi.json")
	p.http(t, document)
	golden, err := os.ReadFile("testdata/tools.golden.json")
	must(t, err)
	var tools []struct {
		Name                      string
		InputSchema, OutputSchema any
	}
	must(t, json.Unmarshal(golden, &tools))
	for _, tool := range tools {
		p.schema("tool "+tool.Name+": input", tool.InputSchema)
		p.schema("tool "+tool.Name+": output", tool.OutputSchema)
	}
	for _, pkg := range stablePackages {
		p.goNames(t, pkg)
	}
	slices.Sort(p.lines)
	p.lines = slices.Compact(p.lines)
	const name = "testdata/public.golden"
	if *update {
		put(t, name, strings.Join(p.lines, "\n")+"\n")
	}
	text, err := os.ReadFile(name)
	must(t, err)
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range slices.Concat(want, p.lines) {
		if !slices.Contains(p.lines, line) {
			t.Errorf("gone, which breaks those who use it: %s", line)
		} else if !slices.Contains(want, line) {
			t.Errorf("new, make update adds it: %s", line)
		}
	}
}

// flags adds the flags of a command and of its commands.
func (p *public) flags(cmd *cobra.Command) {
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			p.add("flag %s --%s %s", cmd.CommandPath(), f.Name, f.Value.Type())
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	p.add("command %s", cmd.CommandPath())
	for _, sub := range cmd.Commands() {
		p.flags(sub)
	}
}

// http adds what an OpenAPI document says, and with it the events.
func (p *public) http(t *testing.T, document string) {
	var d struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct{ Name, In string }
			Responses   map[string]any
		}
		Components struct{ Schemas map[string]any }
	}
	must(t, json.Unmarshal([]byte(document), &d))
	for path, methods := range d.Paths {
		for method, op := range methods {
			p.add("http %s %s: %s, %v", method, path, op.OperationID, slices.Sorted(maps.Keys(op.Responses)))
			for _, in := range op.Parameters {
				p.add("http %s %s: %s %s", method, path, in.In, in.Name)
			}
		}
	}
	for name, schema := range d.Components.Schemas {
		p.schema("json "+name, schema)
	}
}

// schema adds a JSON Schema and the schemas of its members.
func (p *public) schema(name string, of any) {
	schema, _ := of.(map[string]any)
	var is strings.Builder
	is.WriteString(name)
	for _, key := range []string{"type", "$ref", "enum", "required"} {
		if v, ok := schema[key]; ok {
			fmt.Fprintf(&is, " %s=%v", key, v)
		}
	}
	p.add("%s", is.String())
	properties, _ := schema["properties"].(map[string]any)
	for member, of := range properties {
		p.schema(name+"."+member, of)
	}
	if items, ok := schema["items"]; ok {
		p.schema(name+"[]", items)
	}
}

// goNames adds the exported names of a package: a line for each function, type, field, method, constant and variable.
func (p *public) goNames(t *testing.T, pkg string) {
	files, err := build.Default.ImportDir(filepath.Join("../..", pkg), 0)
	must(t, err)
	fset := token.NewFileSet()
	for _, name := range files.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(files.Dir, name), nil, parser.SkipObjectResolution)
		must(t, err)
		ast.FileExports(file)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				f.Body = nil
				p.declared("go "+pkg, f)
				continue
			}
			for _, spec := range decl.(*ast.GenDecl).Specs {
				p.declared("go "+pkg, spec)
			}
		}
	}
}

// noName is a line with nothing that others can name: the methods of a type that is not exported too.
var noName = regexp.MustCompile(`^(}|//|func \((\w+ )?\*?[a-z]\w*(\[.*?\])?\) )`)

func (p *public) declared(at string, node ast.Node) {
	if v, ok := node.(*ast.ValueSpec); ok {
		v.Values = nil
	}
	var b strings.Builder
	_ = format.Node(&b, token.NewFileSet(), node) // to a string
	for i, line := range strings.Split(b.String(), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" || noName.MatchString(line) {
			continue
		}
		if of, ok := node.(*ast.TypeSpec); ok && i > 0 {
			line = of.Name.Name + ": " + line
		}
		p.add("%s %s", at, line)
	}
}
