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
	for text, want := range map[string]string{
		`steps.b.outcome == params.m`:       "there is no steps.b\nthere is no params.m",
		`steps.a.outcom == "failed"`:        "outcom",
		`steps.a.outcome > 3`:               "cannot apply > to string and integer",
		`params.n + 1`:                      "of type integer and must be True or False",
		`steps == None`:                     "there is no steps",
		`env("HOME") == ""`:                 "there is no function env",
		`now() == None`:                     "there is no function now",
		`item.close()`:                      "there is no method close",
		`params.n == 3 && true`:             "use the operators of Python",
		`1 / 0 > 1`:                         "division by zero",
		`params.list[True]`:                 "array has no element at an index of type boolean",
		`true`:                              "there is no true; write True",
		`sorted([1], key=lambda x: x) == 1`: "no lambda",
		`params.n[0] == 1`:                  "integer has no element",
		`params.n.m == 1`:                   "integer has no member m",
		`len(params.n) > 1`:                 "len takes no value of type integer",
		`"x" * 3 == "xxx"`:                  "cannot apply * to string and integer",
		`1 +`:                               "want primary expression",
		strings.Repeat("(", 2000):           "excessive nesting",
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
	for text, want := range map[string]string{
		`7 // 2 * 2 + 7 % -2`:        `5`,
		`-7 // 2`:                    `-4`,
		`6 / 4`:                      `1.5`,
		`0.5 + 0.5`:                  `1`,
		`9007199254740992 + 1.0 > 0`: `true`,
		`[1, {"a": 1.0}] == [1.0, {"a": 1}] and not [1] == [2]`:              `true`,
		`item["name"] + item.name[0] + item.name[-1:]`:                       `"xxx"`,
		`"äb"[1:] + "äb"[0:2]`:                                               `"bä"`,
		`params.list[-1] + params.list[params.list[0]]`:                      `5`,
		`params.list[1:] + [4]`:                                              `[2,3,4]`,
		`[name + "!" for name in {"b": 1, "a": 2}]`:                          `["b!","a!"]`,
		`item.nothing or "else"`:                                             `"else"`,
		`"," .join(sorted("b a".split(" "))).upper().replace("A,", "")`:      `"B"`,
		`[min(params.list), max(params.list), sum(params.list)]`:             `[1,3,6]`,
		`[int(2.5), int("7"), float("0.5")]`:                                 `[2,7,0.5]`,
		`json.decode("{\"name\": \"x\"}") == item`:                           `true`,
		`str(params.list) + str("s") + str(None) + str(2.0)`:                 `"[1, 2, 3]sNone2.0"`,
		`["x" in "axb", "b" in {"a": 1}, 2 not in params.list]`:              `[true,false,false]`,
		`get(steps, "a.result.score") `:                                      `there is no steps`,
		`item.nothing.more`:                                                  `item.nothing.more: NoneType has no .more field or method`,
		`params.list[3]`:                                                     `params.list[3]: list index 3 out of range [-3:2]`,
		`1 / (params.n - 3)`:                                                 `1 / (params.n - 3): floating-point division by zero`,
		`[x * y for x in [1, 2] for y in [z for z in params.list if z > 1]]`: `[2,3,4,6]`,
		`item == {"name": "x"} and [item] == [{"name": "x"}]`:                `true`,
		`item in [item] and "name" in item and len(item) == 1`:               `true`,
		`sorted([3, 1], reverse=True)`:                                       `[3,1]`,
		`9007199254740993 * 9007199254740993`:                                `9007199254740993 * 9007199254740993: the number is too large`,
		`sorted(["b", "a"], key=item.name.join)`:                             `sorted(["b", "a"], key=item.name.join): sorted takes no builtin_function_or_method as an argument`,
		`"x".join()`:                                                         `"x".join(): join: got 0 arguments, want 1`,
		`item.upper()`:                                                       `item.upper(): null is no function`,
		`1e308 * 10`:                                                         `1e308 * 10: the number is too large`,
		`"".join([1])`:                                                       `"".join([1]): join: in list, want string, got int`,
	} {
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
	for _, text := range []string{
		`item` + strings.Repeat(` + item`, 50),
		`[item + item for x in params.list]`,
		`[item for x in params.list]`,
		`"".join([item for x in params.list])`,
		`str([item for x in params.list])`,
		`item.join(["" for x in params.list])`,
		`item.replace("x", item)`,
		`item.split("x") + item.split("x")`,
		`[params.list for x in params.list]`,
		`[x in params.list and 1 not in params.list for x in params.list]`,
		`[item == item + "" for x in params.list]`,
		`[item.find("y") for x in params.list]`,
		`[params.list == params.list for x in params.list]`,
		`[y + y + y for x in [item + item] for y in [x + x]]`,
		`len(list(range(1000000000 + len(item))))`,
		`len([item for x in range(10000) for y in range(10000)])`,
		`item.split()`,
		`[params.list[1:] for x in params.list]`,
		`int("9" + item.replace("x", "9"))`,
	} {
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
