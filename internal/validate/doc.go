// Package validate validates JSON values against JSON Schemas, and explains in words what does not fit. Programs, people and
// models all get these words. [ReadYAML] reads YAML and JSON that people write, and gives each problem its line and
// column.
package validate
