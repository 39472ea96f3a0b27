package lab_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// stdioServer names the variable whose value, a folder, makes the test's binary a server over stdio.
const stdioServer = "LASTWORD_CLIENTS_STDIO"

// serveStdio is the server that clients over stdio start: the test's own binary.
func serveStdio(folder string) error {
	door, end, err := openDoor(folder)
	if err != nil {
		return err
	}
	defer end()
	return door.Serve(context.Background(), os.Stdin, os.Stdout)
}

func openDoor(folder string) (*mcp.Server, func(), error) {
	doors, end, err := openDoors(folder, 1)
	if err != nil {
		return nil, nil, err
	}
	return doors[0], end, nil
}

// openDoors is a system with the kit's jobs behind n doors that have nothing of the command's. They share what servers of
// one --nats share.
func openDoors(folder string, n int) (doors []*mcp.Server, end func(), err error) {
	system, err := actors.New(context.Background(), actors.Config{Drain: time.Second, Jobs: kitJobs(folder)})
	if err != nil {
		return nil, nil, err
	}
	keys, rows := seal.New(nil), seal.NewRows(seal.Rows{})
	rows.Shared = n > 1
	for range n {
		door := mcp.New(mcp.Config{Runs: system, Name: "kit", Version: "1", Keys: keys, Sessions: rows,
			Open: func(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
				return os.Open(filepath.Join(folder, a.Path))
			}})
		for _, name := range []string{"count", "program", "write", "crash"} {
			if err := door.AddJob(mcp.JobTool{Job: name}); err != nil {
				return nil, nil, err
			}
		}
		doors = append(doors, door)
	}
	return doors, func() {
		for _, door := range doors {
			door.Close()
		}
		_ = system.Close(context.Background())
	}, nil
}

// kitInput is what the kit's jobs take, each what it needs.
type kitInput struct {
	N     int    `json:"n"`        // milestones that count says
	Pause int    `json:"pause_ms"` // between two of them
	Text  string `json:"text"`     // what write writes
}

func kitJobs(folder string) []actors.Definition {
	input := mcp.Object(nil, `"n":{"type":"integer"}`, `"pause_ms":{"type":"integer"}`, `"text":{"type":"string"}`)
	job := func(name string, work func(ctx context.Context, t *actors.TaskContext, in kitInput) error) actors.Definition {
		about := messages.JobSpec{Title: name, Description: "One of the kit's jobs.", Input: func() json.RawMessage { return input }}
		return actors.Definition{Name: name, JobSpec: about, New: func(input json.RawMessage) (actors.Job, error) {
			var in kitInput
			if err := json.Unmarshal(input, &in); err != nil {
				return actors.Job{}, messages.InvalidInput("%v", err)
			}
			return actors.Job{Name: name, Input: input, Tasks: []actors.Task{{Name: "work",
				Run: func(ctx context.Context, t *actors.TaskContext) error { return work(ctx, t, in) }}}}, nil
		}}
	}
	program, err := command.Define(command.Command{Name: "program", Description: "Counts, and then waits.", Env: []string{"PATH"},
		Command: []string{"sh", "-c", "for i in 1 2 3; do echo $i/3; done; exec sleep 1000"}, Progress: `(\d+)/(\d+)`},
		command.Config{Environ: os.Environ()})
	if err != nil {
		panic(err)
	}
	return []actors.Definition{
		program,
		job("count", count),
		job("write", func(_ context.Context, t *actors.TaskContext, in kitInput) error {
			return write(t, folder, in.Text)
		}),
		job("crash", func(context.Context, *actors.TaskContext, kitInput) error { panic("killed by the kit") }),
	}
}

// count says n milestones, which nothing may merge.
func count(ctx context.Context, t *actors.TaskContext, in kitInput) error {
	for i := range in.N {
		if in.Pause > 0 {
			select {
			case <-time.After(time.Duration(in.Pause) * time.Millisecond):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		call := fmt.Sprintf("c%d", i/2)
		var body messages.Body = messages.ToolStarted{Call: call, Tool: "step"}
		if i%2 == 1 {
			body = messages.ToolCompleted{Call: call}
		}
		if err := t.Emit(body, fmt.Sprintf("step %d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

func write(t *actors.TaskContext, folder, text string) error {
	name := string(t.RunID()) + ".txt"
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	return t.Emit(messages.ArtifactWritten{Artifact: messages.Artifact{Name: "note.txt", Path: name,
		Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}}, "note.txt written")
}

// TestMain makes the binary the server that a test of it asks for.
func TestMain(m *testing.M) {
	var err error
	stdio, http, page := os.Getenv(stdioServer), os.Getenv(httpServer), os.Getenv(pageServer)
	switch {
	case os.Getenv(behindServer) != "":
		err = serveBehind(os.Getenv(behindServer))
	case page != "":
		err = servePage(page)
	case stdio != "":
		err = serveStdio(stdio)
	case http != "":
		err = serveHTTP(http)
	default:
		code := m.Run()
		printClients()
		os.Exit(code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
