// Package jobschema derives JSON Schemas for the inputs and results of jobs from Go types.
//
// Struct tags describe a member:
//
//	Secrets string `json:"secrets,omitempty" jsonschema:"what happens to secrets" form:"enum=redact|fail|off,default=redact,programs"`
//
// jsonschema holds the description. form holds what a Go type cannot express: enum (values between bars), default,
// minimum, maximum, exclusiveMinimum, minLength, maxLength, maxItems, and value, which is the title of the member. A
// member marked programs is hidden from models and left out of the schema of a result. Models read brief instead of
// the description, and neither titles nor defaults, because a model reads a list of tools whole. Members without
// omitempty are required.
package jobschema
