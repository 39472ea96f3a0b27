package plans

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/plan"
)

// A parameter is text, or JSON of its type; a list may be texts with commas.
func TestParams(t *testing.T) {
	p := &plan.Plan{Params: map[string]plan.Param{"text": {}, "n": {Type: plan.Integer}, "list": {Type: plan.List}}}
	for args, want := range map[string]string{
		"text=a=b list=x,y n=3": `{"list":["x","y"],"n":3,"text":"a=b"}`,
		"list=[1] text=7":       `{"list":[1],"text":"7"}`,
		"n=x":                   "the parameter n must be of type integer",
		"text":                  "write NAME=VALUE",
	} {
		values, err := parseParams(p, strings.Fields(args))
		got, _ := json.Marshal(values)
		if err != nil {
			got = []byte(err.Error())
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
