// Package form says in JSON Schema what a Go type takes as the input of a job, or gives as its result, so that no form
// is written twice.
//
// A member is described by its tags:
//
//	Secrets string `json:"secrets,omitempty" jsonschema:"what happens to secrets" form:"enum=redact|fail|off,default=redact,programs"`
//
// jsonschema is its description. form holds what a Go type cannot say: enum (values between bars), default,
// minimum, maximum, exclusiveMinimum, minLength, maxLength and maxItems; and value, what a value is called: the title of
// the member. Models do not see a member that is marked programs, and the schema of a result leaves it out. Models read
// brief in place of the description, and neither titles nor defaults, because a list of tools is read whole. Members
// without omitempty are required.
package form
