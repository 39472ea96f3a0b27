package plan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/structured/document"
	"github.com/seed889630bf/lastword/messages/fit"
)

// Problems are the faults of a plan, in the order of its text.
type Problems = document.Problems

// Schema is the JSON Schema of a plan's form.
//
//go:embed schema.json
var Schema []byte

var planForm = sync.OnceValue(func() *fit.Schema { return fit.MustCompile(Schema) })

// Limits of a plan, including nested plans. They bound the work of checking it.
const (
	mostBytes       = 1 << 20
	mostSteps       = 5_000
	mostExpressions = 10_000
)

// Parse reads a plan from YAML or JSON. Its error is [Problems] and lists all faults of the form. [Plan.Check] finds
// all other faults, and [Check] finds both.
func Parse(text []byte) (*Plan, error) {
	p, wrong := parse(text)
	if wrong != nil {
		return nil, wrong
	}
	return p, nil
}

// parse is Parse that also returns the plan without the parts whose form is faulty, if possible.
func parse(text []byte) (*Plan, Problems) {
	for _, of := range []struct {
		what       string
		have, most int
	}{{"bytes", len(text), mostBytes}, {"expressions", bytes.Count(text, []byte("${")), mostExpressions}} {
		if of.have > of.most {
			return nil, tooMany(of.what, of.have, of.most)
		}
	}
	p := &Plan{}
	type form Plan // without UnmarshalJSON
	at, wrong, ok := document.Read(text, planForm(), (*form)(p))
	if !ok {
		return nil, wrong
	}
	if n := p.size(); n > mostSteps {
		return nil, tooMany("steps", n, mostSteps)
	}
	p.text = at
	return p, wrong
}

// Check reads a plan and reports all its faults: of its form, and of what its steps do.
func Check(text []byte, jobs []actors.Definition) (*Plan, error) {
	p, form := parse(text)
	if p == nil {
		return nil, form
	}
	all := slices.Clone(form)
	unnamed := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Name == "" })
	more, _ := errors.AsType[Problems](p.Check(jobs))
	for _, one := range more {
		said := slices.ContainsFunc(form, func(p document.Problem) bool { return p.Line == one.Line })
		if !said && !(unnamed && strings.Contains(one.Problem, "no step")) { // its name may be the faulty part
			all = append(all, one)
		}
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func tooMany(what string, have, most int) Problems {
	return Problems{{Problem: fmt.Sprintf("the plan has %d %s; it may have %d, so make several plans of it", have, what, most)}}
}

// size returns the number of steps, including those of nested plans.
func (p *Plan) size() (n int) {
	for _, s := range p.Steps {
		if n++; s.Plan != nil {
			n += s.Plan.size()
		}
	}
	return n
}

// UnmarshalJSON reads a plan as an object, or as a text for [Parse].
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
