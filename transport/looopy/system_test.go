package looopy_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/looopy"
)

type work struct {
	Message string `json:"message"`
}

// chat says something, has a sub-run say something, writes a large file, and asks for a secret.
func chat(ctx context.Context, t *actors.TaskContext, in work) (string, error) {
	if in.Message == "part" {
		return "", t.Say("answer", "from below")
	}
	if err := t.Say("answer", "from above"); err != nil {
		return "", err
	}
	job, err := actors.Func("chat", chat).New([]byte(`{"message":"part"}`))
	if err != nil {
		return "", err
	}
	run, err := t.Start(ctx, job, actors.Options{Key: "part"})
	if err != nil {
		return "", err
	}
	if _, err := run.Wait(ctx); err != nil {
		return "", err
	}
	large := messages.Artifact{Name: "a/b.bin", Bytes: 2 << 20, SHA256: messages.Digest("large")}
	if err := t.Emit(messages.ArtifactWritten{Artifact: large}, ""); err != nil {
		return "", err
	}
	secret, err := t.Ask(ctx, messages.InputRequired{Request: "key", Prompt: "The key?", InputKind: messages.InputSecret})
	return fmt.Sprintf("%d bytes", len(secret)), err
}

// Of a real runtime a client gets the sub-run's events under their own task, a URL for a large file, and a request
// for a credential, which goes on with the turn and is in no event.
func TestSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := []actors.Definition{actors.Func("chat", chat)}
		system, err := actors.New(context.Background(), actors.Config{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		s := looopy.New(door.New(door.Config{Runs: system, Jobs: []messages.JobInfo{{Name: "chat"}}}))
		_, all := ask(t, s, http.MethodPost, looopy.Path, `{"message":"go","contextId":"c"}`)
		task, last := all[0].data["taskId"], all[len(all)-1]
		if last.state() != "waiting-auth" {
			t.Errorf("the stream ends with %+v", last)
		}
		_, more := ask(t, s, http.MethodPost, looopy.Path,
			`{"contextId":"c","credentials":[{"authId":"key","credential":"hunter2"}]}`)
		all = append(all, more...)
		seen := map[string]string{}
		for _, e := range all {
			switch e.kind() {
			case "content-delta":
				seen[fmt.Sprint(e.data["content"])] = fmt.Sprint(e.data["taskId"] == task, e.data["parentTaskId"] == task,
					e.data["path"])
			case "artifact-binary":
				seen["url"] = fmt.Sprint(e.data["url"])
			case "auth-required", "auth-completed":
				seen[e.kind()] = fmt.Sprint(e.data["authId"])
			case "task-complete":
				seen["duration"] = fmt.Sprint(e.data["content"])
			}
		}
		want := map[string]string{"from above": "true false <nil>", "from below": "false true [agent:chat]",
			"url": fmt.Sprintf("/v1/runs/%v/artifacts/a%%2Fb.bin", task), "auth-required": "key", "auth-completed": "key",
			"duration": "from above"}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("the client has\n%v, want\n%v", seen, want)
		}
		if err := system.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
