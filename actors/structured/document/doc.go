// Package document reads YAML and JSON that people write, with the place of each value, and says with line and column
// what a JSON Schema has against it.
package document
