package expression_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
)

var step = expression.Object{"outcome": expression.Text, "result": expression.Value, "rounds": expression.Integer}

func names(root, member string) (expression.Type, error) {
	switch {
	case root == "item":
		return expression.Value, nil
	case root == "params" && member == "n":
		return expression.Integer, nil
	case root == "params" && member == "list":
		return expression.List, nil
	case root == "steps" && member == "a":
		return step, nil
	}
	return nil, errors.New("there is no " + strings.TrimSuffix(root+"."+member, "."))
}

var environment = expression.Environment{
	"item":   expression.Of(map[string]any{"name": "x"}),
	"params": expression.Of(map[string]any{"n": 3, "list": []any{1.0, 2.0, 3.0}}),
	"steps": expression.Of(map[string]any{"a": map[string]any{"outcome": "failed", "rounds": 2,
		"result": map[string]any{"score": 0.5}}}),
}

func TestGuards(t *testing.T) {
	for text, want := range map[string]bool{
		`steps.a.outcome == "failed"`:                             true,
		`steps.a.result.score > 0.4 and params.n < 3`:             false,
		`steps.a.result.nothing == None`:                          true,
		`len([x for x in params.list if x > 1]) == 2`:             true,
		`item.name in ["x", "y"]`:                                 true,
		`steps.a.outcome.startswith("fa") and steps.a.rounds > 1`: true,
		`get(steps.a.result, "deep.deeper", 0) == 0`:              true,
		`not any([x > 3 for x in params.list])`:                   true,
		"steps.a.outcome == 'failed'\n  and True":                 true,
		`item == 3`: false,
	} {
		e, err := expression.Compile(text, names, expression.Boolean)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.True(t.Context(), nil, environment); err != nil || got != want {
			t.Errorf("%s is %t, %v", text, got, err)
		}
	}
}

// What is wrong is said before anything runs, and all of it.
func TestProblems(t *testing.T) {
	problems := [][]string{{strings.Repeat("(", 2000), "excessive nesting"}, {strings.Repeat(" ", 5000), "5000 bytes"},
		{`steps.b.outcome == params.m`, "there is no steps.b\nthere is no params.m"}}
	for _, row := range append(fatal.Rows(t, "testdata/problems.txt"), problems...) {
		text, want := row[0], row[1]
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
		`"${ {\"a\": \"}\"}[\"a\"] }"`:                         `"}"`,
		`""`:                                                   `""`,
		`{}`:                                                   `{}`,
	} {
		var value any
		fatal.IfError(t, json.Unmarshal([]byte(text), &value))
		tmpl := expression.NewTemplate(value, names, "input", func(path string, err error) { t.Errorf("%s: %v", path, err) })
		got, err := tmpl.Eval(t.Context(), nil, environment)
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
		"${item}": "", "${steps.a.result}": "", "${1.5}": "number", "${True}": "boolean",
		"${1 if item else 1.5}": "number", "${len(item) + 1}": "integer", "${item + 1}": "",
		"${[item]}": "array", "${str(item) + item}": "string", "${item or 1}": "", "x": "string"} {
		if got := expression.NewTemplate(value, names, "", nil).Type; got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
}

// Values are Starlark's over JSON.
func TestValues(t *testing.T) {
	for _, row := range fatal.Rows(t, "testdata/values.txt") {
		text, want := row[0], row[1]
		e, err := expression.Compile(text, names, expression.Value)
		var got any
		if err == nil {
			got, err = e.Eval(t.Context(), nil, environment)
		}
		data, _ := json.Marshal(got)
		if err != nil {
			data = []byte(err.Error())
		}
		if string(data) != want {
			t.Errorf("%s is %s, want %s", text, data, want)
		}
	}
}

// No expression takes or builds more than its bound, however large the values are that it reads.
func TestBounds(t *testing.T) {
	large := expression.Environment{"item": expression.Of(strings.Repeat("x", 1<<20)),
		"params": expression.Of(map[string]any{"list": make([]any, 100_000)})}
	long := []string{`item` + strings.Repeat(` + item`, 50)}
	for _, row := range append(fatal.Rows(t, "testdata/bounds.txt"), long) {
		text := row[0]
		e, err := expression.Compile(text, names, expression.Value)
		if err != nil {
			t.Errorf("%.50s: %v", text, err)
			continue
		}
		if _, err := e.Eval(t.Context(), nil, large); err == nil || !strings.Contains(err.Error(), "too large, or takes too long") {
			t.Errorf("%.50s: %.99v", text, err)
		}
	}
}
