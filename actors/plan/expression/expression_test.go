package expression_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/plan/expression"
)

var step = expression.Object{"outcome": expression.Text, "result": expression.Value, "rounds": expression.Integer}

func names(root, member string) (expression.Type, error) {
	switch {
	case root == "item" && member == "":
		return expression.Value, nil
	case root == "item":
		return nil, nil
	case root == "params" && member == "n":
		return expression.Integer, nil
	case root == "params" && member == "list":
		return expression.List, nil
	case root == "steps" && member == "a":
		return step, nil
	}
	return nil, errors.New("there is no " + strings.TrimSuffix(root+"."+member, "."))
}

var environment = map[string]any{
	"item":   map[string]any{"name": "x"},
	"params": map[string]any{"n": 3, "list": []any{1.0, 2.0, 3.0}},
	"steps":  map[string]any{"a": map[string]any{"outcome": "failed", "rounds": 2, "result": map[string]any{"score": 0.5}}},
}

func TestGuards(t *testing.T) {
	for text, want := range map[string]bool{
		`steps.a.outcome == "failed"`:                          true,
		`steps.a.result.score > 0.4 && params.n < 3`:           false,
		`steps.a.result.nothing == nil`:                        true,
		`count(params.list, # > 1) == 2`:                       true,
		`item.name in ["x", "y"]`:                              true,
		`steps.a.outcome matches "^fa" and steps.a.rounds > 1`: true,
		`(steps.a.result?.deep?.deeper ?? 0) == 0`:             true,
	} {
		e, err := expression.Compile(text, names, expression.Boolean)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.True(environment); err != nil || got != want {
			t.Errorf("%s is %t, %v", text, got, err)
		}
	}
}

// What is wrong is said before anything runs, and all of it.
func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		`steps.b.outcome == params.m`:              "there is no steps.b\nthere is no params.m",
		`steps.a.outcom == "failed"`:               "outcom",
		`steps.a.outcome > 3`:                      "mismatched types string and int",
		`params.n + 1`:                             "expected bool",
		`steps == nil`:                             "there is no steps",
		`env("HOME") == ""`:                        "there is no function env",
		`now() == nil`:                             "there is no function now",
		`let x = 1; x > 0`:                         "no variables",
		`any(params.list, all(params.list, true))`: "at most one of",
		`1 +`:                               "unexpected token EOF",
		strings.Repeat("1+", 300) + "1 > 0": "exceeds maximum allowed nodes",
		strings.Repeat(" ", 5000):           "5000 bytes",
	} {
		_, err := expression.Compile(text, names, expression.Boolean)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}

func TestTemplates(t *testing.T) {
	for text, want := range map[string]string{
		`"n is ${params.n}, $${n}, and ${item}"`:               `"n is 3, ${n}, and {\"name\":\"x\"}"`,
		`{"a":"${params.n}","b":["${params.list}",true,null]}`: `{"a":3,"b":[[1,2,3],true,null]}`,
		`"${ {\"a\": \"}\"}.a }"`:                              `"}"`,
		`""`:                                                   `""`,
		`{}`:                                                   `{}`,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		tmpl := expression.NewTemplate(value, names, "input", func(path string, err error) { t.Errorf("%s: %v", path, err) })
		got, err := tmpl.Eval(environment)
		data, _ := json.Marshal(got)
		if err != nil || string(data) != want {
			t.Errorf("%s is %s, %v, want %s", text, data, err, want)
		}
	}
	var wrong []string
	expression.NewTemplate(map[string]any{"a": []any{"${steps.b}", "${"}, "b": "${params.m}"}, names, "input",
		func(path string, err error) { wrong = append(wrong, path) })
	if got := strings.Join(wrong, " "); got != "input.a.0 input.a.1 input.b" {
		t.Errorf("problems at %s", got)
	}
}

func TestTypes(t *testing.T) {
	for value, want := range map[string]string{"${params.n}": "integer", "x${params.n}": "string", "${params.list}": "array",
		"${item}": "", "${steps.a.result}": "", "${1.5}": "number", "${true}": "boolean", "x": "string"} {
		if got := expression.NewTemplate(value, names, "", nil).Type(); got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
}
