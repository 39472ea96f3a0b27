package chat_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/tool"
)

// A model reads a file of a repository and answers. Outside of a test the Stream is that of an llm.Client, and the
// files are the FS of an os.Root.
func Example() {
	ctx := context.Background()
	files := fstest.MapFS{"go.mod": {Data: []byte("module garden\n")}}
	m := script{answers: []said{{calls: calls(`read_file {"path":"go.mod"}`)}, {text: "It is the module garden."}}}

	tools, err := tool.NewSet(nil, tool.Repository(files)...)
	if err != nil {
		panic(err)
	}
	job, err := chat.Job(chat.Input{Message: "Which module is this?"}, chat.Config{Stream: m.stream, Tools: tools})
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
	fmt.Printf("%s\n%s\n", m.requests[1].Messages[2].Content, state.End.Result)
	// Output:
	// module garden
	//
	// {"text":"It is the module garden.","model":"qwen3-8b","finish_reason":"stop","usage":{"prompt_tokens":200,"completion_tokens":20}}
}
