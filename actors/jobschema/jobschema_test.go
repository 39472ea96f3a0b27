package jobschema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/fatal"
)

type said struct {
	Role string `json:"role"`
}

type order struct {
	Item    string `json:"item" form:"minLength=1" jsonschema:"what, exactly"`
	Count   *int   `json:"count,omitempty" form:"minimum=1,maximum=9,default=1"`
	Earlier []said `json:"earlier,omitempty" form:"programs,maxItems=3"`
	Wrap    string `json:"wrap,omitempty" form:"enum=paper|box,default=paper,value=material,brief=shortly" jsonschema:"what to wrap it in"`
}

type tree struct {
	Below []tree `json:"below,omitempty"`
}

func TestForms(t *testing.T) {
	const item = `{"type":"object","properties":{"item":{"type":"string","description":"what, exactly","minLength":1},`
	const count = `"count":{"type":"integer","default":1,"minimum":1,"maximum":9},`
	const earlier = `"earlier":{"type":"array","items":{"type":"object"`
	const wrap = `"default":"paper","enum":["paper","box"]}`
	for want, got := range map[string]json.RawMessage{
		item + count + earlier + `,"properties":{"role":{"type":"string"}},"required":["role"],"additionalProperties":false},"maxItems":3},` +
			`"wrap":{"type":"string","title":"material","description":"what to wrap it in",` + wrap + `},"required":["item"],"additionalProperties":false}`: jobschema.Input[order]()(),
		item + `"count":{"type":"integer","minimum":1,"maximum":9},"wrap":{"type":"string","description":"shortly","enum":["paper","box"]}},` +
			`"required":["item"],"additionalProperties":false}`: jobschema.ForModels[order]()(),
		item + count + `"wrap":{"type":"string","description":"what to wrap it in",` + wrap + `},"required":["item"]}`: jobschema.Result[order]()(),
		`{"type":"string"}`: jobschema.Input[string]()(),
	} {
		if string(got) != want {
			t.Errorf("the form is\n%s, want\n%s", got, want)
		}
	}
	for _, any := range []json.RawMessage{jobschema.Input[any]()(), jobschema.Input[json.RawMessage]()(), jobschema.Input[tree]()(), jobschema.Input[chan int]()()} {
		if any != nil {
			t.Errorf("what takes anything has the form %s", any)
		}
	}
	if !jobschema.TakesObject[order]() || !jobschema.TakesObject[any]() || !jobschema.TakesObject[map[string]int]() || jobschema.TakesObject[string]() ||
		jobschema.TakesObject[[]int]() {
		t.Error("who takes an object is another")
	}
}

// An error names a member as its caller writes it, however deep the Go type embeds it.
func TestErrorsNameMembersAsWritten(t *testing.T) {
	type Inner struct {
		Count int `json:"count"`
	}
	type Options struct {
		*Inner
		MaxLinks int
	}
	type input struct {
		Options
		Named Inner            `json:"named"`
		List  []Options        `json:"list"`
		Map   map[string]Inner `json:"map"`
	}
	long := strings.Repeat("long ", 20_000)
	if in, err := jobschema.Read[[]string](json.RawMessage(`["a","` + long + `"]`)); err != nil || !slices.Equal(in, []string{"a", long}) {
		t.Errorf("a long text: %.100q, %v", in, err)
	}
	for given, want := range fatal.Table[map[string]string](t, "testdata/misfits.json") {
		given, want = strings.ReplaceAll(given, "LONG", long), strings.ReplaceAll(want, "LONG", long)
		if _, err := jobschema.Read[input](json.RawMessage(given)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}
