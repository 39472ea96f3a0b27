package structured

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed889630bf/lastword/messages/fit"
	"github.com/seed889630bf/lastword/messages/jsonwalk"
)

const (
	maxProblems     = 20
	maxProblemBytes = 300 // each may quote the answer
)

// Schema validates JSON documents.
type Schema struct{ compiled *validator.Schema }

// Compile compiles a JSON Schema. It opens no file that the schema refers to.
func Compile(text []byte) (*Schema, error) {
	compiled, err := fit.Read(text)
	if err != nil {
		return nil, fmt.Errorf("structured: %w", err)
	}
	return &Schema{compiled}, nil
}

// Problems lists what is wrong with a document; nil if it is valid.
func (s *Schema) Problems(doc []byte) []string {
	value, err := validator.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return []string{"it is not JSON: " + err.Error()}
	}
	var list []string
	for path := range jsonwalk.Repeated(doc) {
		if list = append(list, fmt.Sprintf("at '%s': the key is there twice", path)); len(list) == maxProblems {
			break
		}
	}
	if err := s.compiled.Validate(value); err != nil {
		list = append(list, validationErrors(err)...)
	}
	for i, p := range list {
		list[i] = strings.ToValidUTF8(p[:min(len(p), maxProblemBytes)], "")
	}
	return list[:min(len(list), maxProblems)]
}

// validationErrors lists the problems that a validation has found.
func validationErrors(err error) []string {
	e, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var list []string
	for _, unit := range e.BasicOutput().Errors {
		if unit.Error != nil {
			list = append(list, fmt.Sprintf("at '%s': %s", unit.InstanceLocation, unit.Error))
		}
	}
	return list
}
