// Package form says in JSON Schema what a Go type takes as the input of a job, or gives as its result, so that no form
// is written twice.
//
// A member is described by its tags:
//
//	Secrets string `json:"secrets,omitempty" jsonschema:"what happens to secrets" form:"enum=redact|fail|off,default=redact,programs"`
//
// jsonschema is its description. form holds what JSON Schema has no Go type for: enum (values between bars), default,
// minimum, maximum, exclusiveMinimum, minLength, maxLength and maxItems; and value, what a value is called: the title of
// the member. A member that is marked programs is not for models. They read brief in place of the description, and no
// titles and defaults, because a list of tools is read whole. Members without omitempty are required.
package form
