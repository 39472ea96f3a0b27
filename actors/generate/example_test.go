package generate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository"
)

// A program of your own writes llms.txt for a repository: a folder, owner/repo, or a URL.
func ExampleDefine() {
	dir, _ := os.MkdirTemp("", "garden")
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Garden\n\nGarden waters plants at night.\n"), 0o644)
	input, _ := json.Marshal(generate.Input{Repository: dir, Out: filepath.Join(dir, "out"), Layout: generate.LayoutFlat})

	ctx, from := context.Background(), repository.Options{}
	system, err := actors.New(ctx, actors.Config{Jobs: []actors.Definition{generate.Define(generate.Config{Open: from.Open})}})
	if err != nil {
		panic(err)
	}
	defer system.Close(ctx)
	id, err := system.Submit(ctx, messages.Request{Job: generate.Name, Input: input})
	for e, err := range system.Events(ctx, id, 0) {
		if written, ok := e.Body.(messages.ArtifactWritten); ok {
			fmt.Println(written.Name, err)
		}
	}
	fmt.Println(err)
	// Output:
	// llms.txt <nil>
	// llms-full.txt <nil>
	// llms.json <nil>
	// <nil>
}
