package prompt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// A prompt streams one answer of a model. Here a stand-in answers; outside of a test the Stream is an llm.Client's.
func Example() {
	ctx := context.Background()
	stream := ending(model.Evidence{Done: true, Output: true, Finish: "stop", FinishLast: true},
		model.Text{Text: "It is "}, model.Text{Text: "blue."})
	job, err := prompt.Job(prompt.Input{Text: "Which color has the sky?"}, prompt.Config{Stream: stream, Provider: "stand-in"})
	if err != nil {
		panic(err)
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
	var result prompt.Result
	if err := json.Unmarshal(state.End.Result, &result); err != nil {
		panic(err)
	}
	fmt.Printf("%s %q by %s\n", state.Status, result.Text, result.Model)
	// Output:
	// completed "It is blue." by qwen3-8b
}

func TestDefinitionWithoutAConfig(t *testing.T) {
	if _, err := actors.New(t.Context(), actors.Config{Jobs: []actors.Definition{prompt.Define(nil)}}); messages.CodeOf(err) != messages.CauseInvalidInput {
		t.Errorf("New: %v", err)
	}
}
