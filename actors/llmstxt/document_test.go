package llmstxt

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var must = fatal.IfError

// Whatever index and files hold, llms.json is of its schema, and what it says is what llms.txt says.
func TestJSONIsOfItsSchema(t *testing.T) {
	of, err := jsonschema.For[Document](nil)
	must(t, err)
	text, err := json.Marshal(of)
	must(t, err)
	published, err := validator.UnmarshalJSON(bytes.NewReader(text))
	must(t, err)
	compiler := validator.NewCompiler()
	must(t, compiler.AddResource("llms.schema.json", published))
	valid, err := compiler.Compile("llms.schema.json")
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"](", "\r\n## x", "`", "\x1b[31m", "\u202e", "\x00", "\xff", "a", "Optional"}))
		symbol := rapid.Custom(func(t *rapid.T) rank.Symbol {
			return rank.Symbol{Symbol: surface.Symbol{Name: text.Draw(t, "symbol"), Kind: surface.Function, Line: 3}, URL: "u"}
		})
		link := rapid.Custom(func(t *rapid.T) rank.Link {
			return rank.Link{Title: text.Draw(t, "title"), URL: text.Draw(t, "url"), Note: text.Draw(t, "note"), Path: text.Draw(t, "path"),
				Reasons: rapid.SliceOfN(text, 0, 2).Draw(t, "reasons"), Symbols: rapid.SliceOfN(symbol, 0, 2).Draw(t, "symbols")}
		})
		index := &rank.Index{Title: text.Draw(t, "title"), Facts: []rank.Fact{{Name: text.Draw(t, "fact"), Value: text.Draw(t, "value")}}}
		for range rapid.IntRange(0, 4).Draw(t, "sections") {
			index.Sections = append(index.Sections, rank.Section{Name: text.Draw(t, "section"), Links: rapid.SliceOfN(link, 0, 3).Draw(t, "links")})
		}
		repo := &scan.Repository{Left: []scan.Left{{Reason: scan.Binary, Files: 1, First: text.Draw(t, "left")}}}
		var out bytes.Buffer
		must(t, newDocument(index, repo).write(&out))
		said, err := validator.UnmarshalJSON(bytes.NewReader(out.Bytes()))
		must(t, err)
		if err := valid.Validate(said); err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		var d Document
		must(t, json.Unmarshal(out.Bytes(), &d))
		sameAsTxt(t, index, d)
	})
}

func sameAsTxt(t *rapid.T, index *rank.Index, d Document) {
	var out bytes.Buffer
	must(t, render.Txt(&out, index))
	doc, problems := Parse(out.String())
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, out.String())
	}
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
