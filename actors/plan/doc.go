// Package plan holds the form of plan files, at the address that their "$schema" names. The job that runs them is the
// program's own.
package plan

import _ "embed"

// Schema is the JSON Schema of a plan's form.
//
//go:embed schema.json
var Schema []byte
