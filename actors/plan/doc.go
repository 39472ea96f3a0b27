// Package plan holds the form of plan files, at the address that their "$schema" names. The job that runs them is the
// program's own.
package plan

import (
	_ "embed"

	"github.com/seed889630bf/lastword/internal/packed"
)

//go:embed schema.json.gz
var schema string

// Schema returns the JSON Schema of a plan's form.
func Schema() []byte { return packed.Text(schema) }
