package plan_test

import (
	"context"
	"fmt"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/plan"
)

// A plan runs jobs as steps: each starts when the steps that it needs have ended, and may use their results.
func Example() {
	ctx := context.Background()
	add := actors.Func("add", func(_ context.Context, _ *actors.TaskContext, in struct {
		A int `json:"a"`
		B int `json:"b"`
	}) (int, error) {
		return in.A + in.B, nil
	})
	parsed, err := plan.Parse([]byte(`
params:
  n: {type: integer}
steps:
  - {name: first, job: add, input: {a: "${params.n}", b: 1}}
  - {name: second, job: add, needs: first, input: {a: "${steps.first.result}", b: 10}}
result: ${steps.second.result}
`))
	if err != nil {
		panic(err)
	}
	job, err := plan.Job(plan.Input{Plan: parsed, Params: map[string]any{"n": 31}}, plan.Config{Jobs: []actors.Definition{add}})
	if err != nil {
		panic(err) // every fault of the plan, with line and column
	}
	system, err := actors.New(ctx, actors.Config{})
	if err != nil {
		panic(err)
	}
	defer system.Close(ctx)
	run, err := system.Start(ctx, job, actors.Options{})
	if err != nil {
		panic(err)
	}
	state, err := run.Wait(ctx)
	if err != nil {
		panic(err)
	}
	sum, err := plan.Result[int](state)
	fmt.Println(sum, err)
	// Output:
	// 42 <nil>
}
