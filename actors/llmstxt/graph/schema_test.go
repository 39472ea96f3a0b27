package graph_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
)

const schemaFile = "../../../docs/graph.schema.json"

// schema is that of the Go types: the published one is made from them.
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
