package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed889630bf/lastword/actors/llmstxt"
)

const schemaFile = "../../../../docs/llms.schema.json"

// schema describes the Go types: the published one is made from them.
func schema(t *testing.T) []byte {
	t.Helper()
	s, err := jsonschema.For[llmstxt.Document](nil)
	must(t, err)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "llms.json, " + llmstxt.Schema
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
