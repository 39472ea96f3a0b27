package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/internal/tool"
)

// A Go function becomes a tool for chat.Config.Tools. Its schema comes from the type of the arguments; whatever goes
// wrong is a result that tells the model what to do.
func ExampleFunc() {
	type place struct {
		City string `json:"city" jsonschema:"name of the city"`
	}
	weather := tool.Func(tool.Tool{Name: "weather", Description: "Tells the weather.", Access: tool.Read, Idempotent: true},
		func(_ context.Context, in place) (string, error) { return in.City + ": 21 degrees", nil })
	tools, err := tool.NewSet(nil, weather)
	if err != nil {
		panic(err)
	}
	for _, arguments := range []string{`{"city":"Oslo"}`, `{"town":"Oslo"}`} {
		fmt.Println(tools.Call(context.Background(), "weather", tool.Call{Arguments: json.RawMessage(arguments)}).Text)
	}
	// Output:
	// Oslo: 21 degrees
	// error: the arguments of weather do not fit: city is missing; town: there is no field town here; there are city
}
