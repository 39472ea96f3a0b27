package plan

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/structured/document"
)

// Problem is one thing that is wrong with a plan, and Problems are all, in the order of its text.
type (
	Problem  = document.Problem
	Problems = document.Problems
)

// Schema is the JSON Schema of a plan's form.
//
//go:embed schema.json
var Schema []byte

var planForm = sync.OnceValue(func() *document.Form {
	return document.MustForm(Schema, "a step does exactly one of job, plan, read, write and ask")
})

// Parse reads a plan from YAML or JSON. Its error is [Problems]: all that is wrong with the form. [Plan.Check] says what
// else is wrong.
func Parse(text []byte) (*Plan, error) {
	value, at, err := document.Read(text, planForm())
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, Problems{{Problem: err.Error()}}
	}
	p := &Plan{}
	type form Plan // without UnmarshalJSON
	if err := json.Unmarshal(data, (*form)(p)); err != nil {
		return nil, Problems{{Problem: err.Error()}}
	}
	p.text = at
	return p, nil
}

// UnmarshalJSON reads a plan, or its text as [Parse] does.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	read, err := Parse(data)
	if err != nil {
		return err
	}
	*p = *read
	return nil
}

func listed(names []string) string { return strings.Join(names, ", ") }
