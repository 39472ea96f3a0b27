package plan_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors"
	form "github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// forms are jobs of a runtime.
var forms = []actors.Definition{{Name: "any"}, {Name: "generate", JobSpec: messages.JobSpec{Input: func() json.RawMessage {
	return json.RawMessage(`{"type":"object","required":["repository"],
	"additionalProperties":false,"properties":{"repository":{"type":"string"},"full":{"type":"boolean"},"budget":{"type":"number"}}}`)
}}}}

// All problems are said at once, each with its line and column.
func TestCheck(t *testing.T) {
	const file = "testdata/problems.txtar"
	archive, err := txtar.ParseFile(file)
	must(t, err)
	for i := 0; i+1 < len(archive.Files); i += 2 {
		said := &archive.Files[i+1].Data
		_, err := plan.Check(archive.Files[i].Data, forms)
		got := ""
		if err != nil {
			got = err.Error() + "\n"
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%s: the code is %s", archive.Files[i].Name, messages.CodeOf(err))
			}
		}
		if *update {
			*said = []byte(got)
		}
		if got != string(*said) {
			t.Errorf("%s:\n%swant\n%s", archive.Files[i].Name, got, *said)
		}
	}
	if *update {
		must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

// What is read from YAML, from JSON and from a Go value is the same plan, and is written as it was.
func TestForms(t *testing.T) {
	text, err := os.ReadFile("testdata/all.yaml")
	must(t, err)
	p, err := plan.Parse(text)
	must(t, err)
	must(t, p.Check(forms))
	written, err := json.Marshal(p)
	must(t, err)
	asText, _ := json.Marshal(string(text))
	for _, form := range [][]byte{written, asText} {
		var again plan.Plan
		must(t, json.Unmarshal(form, &again))
		if twice, _ := json.Marshal(&again); string(twice) != string(written) {
			t.Errorf("%s\nwas\n%s", twice, written)
		}
	}
	// Each field of the schema is in the file, so that this test sees what it forgets.
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	must(t, json.Unmarshal(form.Schema(), &schema))
	for def, s := range schema.Defs {
		for field := range s.Properties {
			if !strings.Contains(string(written), `"`+field+`"`) {
				t.Errorf("the field %s of %s is not read", field, def)
			}
		}
	}
}

// A Go value is held to the form as well.
func TestGoValue(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{Name: "1", Job: "any"}, {Name: "a", Job: "any", Needs: plan.Names{"b"}}}}
	err := p.Check(forms)
	if err == nil || !strings.Contains(err.Error(), "steps.0.name") {
		t.Errorf("%v", err)
	}
}

// A run of a plan is known by the plan's name and the parameters that it was given, and without both by its steps.
func TestTitle(t *testing.T) {
	steps := []plan.Step{{Name: "look", Job: "any"}, {Name: "tell", Job: "any"}}
	params := map[string]plan.Param{"to": {Default: "all"}, "n": {Type: plan.Integer, Default: 1.0}}
	for want, in := range map[string]plan.Input{"look tell": {}, "to=x y": {Params: map[string]any{"to": "x y"}}, "weekly": {Plan: &plan.Plan{Name: "weekly"}},
		"weekly n=2 to=b": {Plan: &plan.Plan{Name: "weekly"}, Params: map[string]any{"to": "b", "n": 2.0}}} {
		if in.Plan == nil {
			in.Plan = &plan.Plan{}
		}
		in.Plan.Steps, in.Plan.Params = steps, params
		if job, err := plan.Job(in, plan.Config{Jobs: forms}); err != nil || job.Title != want {
			t.Errorf("%q, %v, want %q", job.Title, err, want)
		}
	}
}

func TestValues(t *testing.T) {
	p := &plan.Plan{Params: map[string]plan.Param{"text": {}, "n": {Type: plan.Integer, Default: 3.0},
		"list": {Type: plan.List, Default: []any{}}}}
	got, err := p.Values(map[string]any{"text": "a=b", "list": []any{"x", 1.0}})
	if data, _ := json.Marshal(got); err != nil || string(data) != `{"list":["x",1],"n":3,"text":"a=b"}` {
		t.Errorf("%s, %v", data, err)
	}
	_, err = p.Values(map[string]any{"n": 1.5, "m": 1})
	want := []string{"the plan has no parameter m; there are list, n, text", "the parameter n must be of type integer",
		"the parameter text is missing"}
	if err == nil || !slices.Equal(strings.Split(err.Error(), "\n"), want) {
		t.Errorf("%v", err)
	}
}

// Whatever the text: it is a plan that can be checked, or problems.
func FuzzParse(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/problems.txtar")
	must(f, err)
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	f.Add([]byte("a: &a [*a, *a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := plan.Parse(text); err == nil {
			_ = p.Check(forms)
		}
	})
}

// A plan is checked without evaluating anything, and one that is too large to be checked soon is refused.
func TestChecksAreBounded(t *testing.T) {
	dear := `${len([x for x in range(100000)])}`
	for text, want := range map[string]string{
		`{"steps":[{"name":"a","write":{"name":"x","text":"` + strings.Repeat(dear, 1_000) + `"}}]}`:    "",
		`{"steps":[{"name":"a","write":{"name":"x","text":"` + strings.Repeat(`${1}`, 10_001) + `"}}]}`: "10001 expressions",
		`{"steps":[{"name":"a","write":{"name":"x","text":"` + strings.Repeat(`x`, 1<<20) + `"}}]}`:     "bytes; at most",
		"steps: [" + strings.Repeat("{name: a, read: {run: x, name: y}},", 5_001) + "]":                 "5001 steps",
	} {
		began := time.Now()
		p, err := plan.Parse([]byte(text))
		if err == nil {
			err = p.Check(nil)
		}
		if said := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(said, want) {
			t.Errorf("%.60s: %.200s, want %s", text, said, want)
		}
		if took := time.Since(began); want == "" && took > 3*time.Second { // evaluating them took ten times that
			t.Errorf("the check took %s", took)
		}
	}
}
