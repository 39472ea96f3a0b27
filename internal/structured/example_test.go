package structured_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed889630bf/lastword/internal/structured"
	"github.com/seed889630bf/lastword/messages/model"
)

// A model answers with a Go value. Its first answer lacks a field, so Ask asks again and says what is missing.
func ExampleAsk() {
	type sky struct {
		Color  string `json:"color"`
		Clouds int    `json:"clouds"`
	}
	answers := [][]model.Part{says(`{"color":"blue"}`), says(`{"color":"blue","clouds":2}`)}
	stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] { // outside of a test, an llm.Client's
		parts := answers[0]
		answers = answers[1:]
		return func(yield func(model.Part, error) bool) {
			for _, part := range parts {
				if !yield(part, nil) {
					return
				}
			}
		}
	}
	request := model.Request{Messages: []model.Message{{Role: model.User, Content: "Describe the sky."}}}
	value, report, err := structured.Ask[sky](context.Background(), stream, request, structured.Options{
		Attempt: func(a structured.Attempt) { fmt.Println(a.Number, a.Rejected) }})
	fmt.Println(value, report.Attempts, err)
	// Output:
	// 1 []
	// 2 [clouds is missing]
	// {blue 2} 2 <nil>
}
