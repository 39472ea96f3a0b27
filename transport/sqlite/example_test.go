package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// Runs in a journal on disk survive their process: the next one reads them, and finds a run by its key.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	greet := actors.Func("greet", func(_ context.Context, _ *actors.TaskContext, name string) (string, error) {
		return "Hello, " + name + ".", nil
	})
	request := messages.Request{Job: "greet", Input: json.RawMessage(`"world"`), Key: "first"}
	var ids []messages.RunID
	for range 2 { // two processes, one after the other
		journal, err := sqlite.Open(dir)
		if err != nil {
			panic(err)
		}
		system, err := actors.New(context.Background(), actors.Config{Journal: journal, Jobs: []actors.Definition{greet}})
		if err != nil {
			panic(err)
		}
		id, err := system.Submit(context.Background(), request)
		if err != nil {
			panic(err)
		}
		_ = system.Close(context.Background())
		_ = journal.Close()
		ids = append(ids, id)
	}
	fmt.Println(ids[0] == ids[1])
	// Output:
	// true
}
