package llmstxt_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/llmstxt"
)

func Example() {
	repository := fstest.MapFS{
		"README.md":       {Data: []byte("# Garden\n\nGarden grows vegetables in rows, and waters them at night.\n")},
		"docs/seeding.md": {Data: []byte("# Seeding\n\nHow deep a seed goes into its bed.\n")},
	}
	ctx, options := context.Background(), llmstxt.Options{Full: llmstxt.FullNone}
	read, err := llmstxt.Read(ctx, repository, llmstxt.Source{Name: "garden"}, options, llmstxt.Caller{})
	if err != nil {
		panic(err)
	}
	found, err := read.Analyze(ctx, llmstxt.Caller{})
	if err != nil {
		panic(err)
	}
	files, err := found.Files(ctx, llmstxt.Output{}, llmstxt.Caller{})
	if err != nil {
		panic(err)
	}
	for _, f := range files.List {
		fmt.Println(f.Name)
	}
	var text strings.Builder
	if _, err := files.List[0].Write(&text); err != nil {
		panic(err)
	}
	fmt.Print(text.String())
	// Output:
	// llms.txt
	// llms.json
	// # Garden
	//
	// > Garden grows vegetables in rows, and waters them at night.
	//
	// - Links lead to files of the repository.
	//
	// ## Docs
	//
	// - [README](README.md)
	// - [Seeding](docs/seeding.md): How deep a seed goes into its bed. <!-- lastword:xYY4jp0JGV7l5k9d -->
}
