package llm_test

import (
	"context"
	"fmt"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// A client streams an answer of a server; here it is testkit's scripted one. The last part says how the answer ended.
func ExampleClient_Stream() {
	server, err := testkit.ListenModel(testkit.ModelOptions{})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	server.Answer(testkit.Role(), testkit.Text("It is "), testkit.Text("blue."), testkit.Finish("stop"), testkit.Done())

	client, err := llm.New(llm.Config{BaseURL: server.URL()})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	request := model.Request{Messages: []model.Message{{Role: model.User, Content: "Which color has the sky?"}}}
	for part, err := range client.Stream(context.Background(), request) {
		switch p := part.(type) {
		case model.Text:
			fmt.Printf("%q\n", p.Text)
		case model.End:
			fmt.Println(p.Verdict.Outcome, p.Verdict.Signal, err)
		}
	}
	// Output:
	// "It is "
	// "blue."
	// completed done <nil>
}
