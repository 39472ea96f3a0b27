package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const schemaFile = "../../../docs/llms.schema.json"

// schema is that of the Go types: the published one is made from them.
func schema(t *testing.T) []byte {
	t.Helper()
	s, err := jsonschema.For[render.Document](nil)
	must(t, err)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "llms.json, " + render.Schema
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

// Whatever index and files hold, llms.json is of its schema, and what it says is what llms.txt says.
func TestJSONIsOfItsSchema(t *testing.T) {
	published, err := validator.UnmarshalJSON(bytes.NewReader(schema(t)))
	must(t, err)
	compiler := validator.NewCompiler()
	must(t, compiler.AddResource("llms.schema.json", published))
	valid, err := compiler.Compile("llms.schema.json")
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		index := anyIndex().Draw(t, "index")
		for i, s := range index.Sections {
			for j := range s.Links {
				l := &index.Sections[i].Links[j]
				l.Reasons = rapid.SliceOfN(anyText(), 0, 2).Draw(t, "reasons")
				l.Symbols = []rank.Symbol{{Symbol: surface.Symbol{Name: anyText().Draw(t, "symbol"), Kind: surface.Function, Line: 3}, URL: "u"}}
			}
		}
		repo := &scan.Repository{Left: []scan.Left{{Reason: scan.Binary, Files: 1, First: anyText().Draw(t, "left")}}}
		var out bytes.Buffer
		must(t, render.JSON(&out, render.NewDocument(index, repo)))
		said, err := validator.UnmarshalJSON(bytes.NewReader(out.Bytes()))
		must(t, err)
		if err := valid.Validate(said); err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		var d render.Document
		must(t, json.Unmarshal(out.Bytes(), &d))
		sameAsTxt(t, index, d)
	})
}

func sameAsTxt(t *rapid.T, index *rank.Index, d render.Document) {
	doc := parsed(t, index)
	if len(doc.Sections) != len(d.Sections) {
		t.Fatalf("llms.txt has %d sections, llms.json %d", len(doc.Sections), len(d.Sections))
	}
	for i, s := range doc.Sections {
		if s.Name != d.Sections[i].Name || len(s.Links) != len(d.Sections[i].Links) {
			t.Fatalf("section %s with %d links is %s with %d", s.Name, len(s.Links), d.Sections[i].Name, len(d.Sections[i].Links))
		}
		for j, l := range s.Links {
			if l.URL != d.Sections[i].Links[j].URL {
				t.Fatalf("the link %s is %s", l.URL, d.Sections[i].Links[j].URL)
			}
		}
	}
}
