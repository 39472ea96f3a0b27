package form_test

import (
	"encoding/json"
	"testing"

	"github.com/seed889630bf/lastword/actors/form"
)

type said struct {
	Role string `json:"role"`
}

type order struct {
	Item    string                     `json:"item" form:"minLength=1" jsonschema:"what, exactly"`
	Count   *int                       `json:"count,omitempty" form:"minimum=1,maximum=9,default=1"`
	Earlier []said                     `json:"earlier,omitempty" form:"programs,maxItems=3"`
	Wrap    string                     `json:"wrap,omitempty" form:"enum=paper|box,default=paper"`
	Extra   map[string]json.RawMessage `json:"extra,omitempty" form:"-"`
}

type tree struct {
	Below []tree `json:"below,omitempty"`
}

func TestForms(t *testing.T) {
	const some = `{"type":"object","properties":{"item":{"type":"string","description":"what, exactly","minLength":1},` +
		`"count":{"type":"integer","default":1,"minimum":1,"maximum":9},`
	const earlier = `"earlier":{"type":"array","items":{"type":"object","properties":{"role":{"type":"string"}},"required":["role"]`
	const wrap = `"wrap":{"type":"string","default":"paper","enum":["paper","box"]}`
	for want, got := range map[string]json.RawMessage{
		some + earlier + `,"additionalProperties":false},"maxItems":3},` + wrap + `},"required":["item"],"additionalProperties":false}`:                                     form.Input[order]()(),
		some + wrap + `},"required":["item"],"additionalProperties":false}`:                                                                                                 form.ForModels[order]()(),
		some + `"earlier":{"type":"array","items":{"type":"object"},"maxItems":3},` + wrap + `,"extra":{"type":"object","additionalProperties":true}},"required":["item"]}`: form.Result[order]()(),
		`{"type":"string"}`: form.Input[string]()(),
	} {
		if string(got) != want {
			t.Errorf("the form is\n%s, want\n%s", got, want)
		}
	}
	for _, any := range []json.RawMessage{form.Input[any]()(), form.Input[json.RawMessage]()(), form.Input[tree]()(), form.Input[chan int]()()} {
		if any != nil {
			t.Errorf("what takes anything has the form %s", any)
		}
	}
	if !form.TakesObject[order]() || !form.TakesObject[any]() || !form.TakesObject[map[string]int]() || form.TakesObject[string]() ||
		form.TakesObject[[]int]() {
		t.Error("who takes an object is another")
	}
}
