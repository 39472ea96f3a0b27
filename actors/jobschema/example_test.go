package jobschema_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/actors/jobschema"
)

// The schema of an input comes from its type, and Read holds an input to that type. Models see fewer members.
func Example() {
	type order struct {
		Item  string `json:"item" jsonschema:"what to buy" form:"minLength=1"`
		Count int    `json:"count,omitempty" form:"minimum=1,default=1"`
		Debug bool   `json:"debug,omitempty" form:"programs"`
	}
	fmt.Println(string(jobschema.ForModels[order]().JSON()))
	in, err := jobschema.Read[order](json.RawMessage(`{"item":"lamp","count":2}`))
	fmt.Println(in.Item, in.Count, err)
	_, err = jobschema.Read[order](json.RawMessage(`{"item":"lamp","count":"two"}`))
	fmt.Println(err)
	// Output:
	// {"type":"object","properties":{"item":{"type":"string","description":"what to buy","minLength":1},"count":{"type":"integer","minimum":1}},"required":["item"],"additionalProperties":false}
	// lamp 2 <nil>
	// the input's field "count" cannot be a JSON string
}
