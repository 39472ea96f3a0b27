package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// On a full disk new runs are refused with words that say what to do, and /readyz says so. A run that goes on waits,
// and completes when there is room again. Nothing that was accepted is lost.
func TestServeOnAFullDisk(t *testing.T) {
	kept := smallDisk(t)
	m := testkit.NewModel(t)
	full := make(chan struct{})
	m.Answer(testkit.Role(), testkit.Text("before "), testkit.Until(full), testkit.Text("after"), testkit.Finish("stop"), testkit.Done())
	m.Always(testkit.Role(), testkit.Text("short"), testkit.Finish("stop"), testkit.Done())
	s := serveHTTP(t, t.TempDir(), "--state", kept, "--base-url", m.URL(), "--max-runs-each", "1000")
	accepted := map[messages.RunID]bool{}
	long, status, says := s.startPrompt("Hello")
	if status != http.StatusAccepted {
		t.Fatal(status, says)
	}
	accepted[long] = true
	<-m.Asked(0)
	fillUp(t, filepath.Join(kept, "filled"))
	for {
		id, status, says := s.startPrompt(strings.Repeat("many words ", 5000))
		if status == http.StatusServiceUnavailable {
			if !strings.Contains(says, `"code":"journal_unavailable"`) || !strings.Contains(says, "is full: free some space") {
				t.Errorf("a start is refused with %s", says)
			}
			break
		}
		if status != http.StatusAccepted || accepted[id] {
			t.Fatal(id, status, says)
		}
		accepted[id] = true
	}
	close(full)
	s.until("/readyz", http.StatusServiceUnavailable, "is full: free some space")
	if _, body := s.get("/v1/runs/" + string(long)); !strings.Contains(body, `"status":"processing"`) {
		t.Errorf("on the full disk a run does not wait: %s", body)
	}
	s.until("/metrics", http.StatusOK, "\nlastword_ready 0\n") // small appends may still find room for a moment
	if code, _ := s.get("/livez"); code != http.StatusOK {
		t.Errorf("the server lives, and /livez says %d", code)
	}
	must(t, os.Remove(filepath.Join(kept, "filled")))
	s.until("/readyz", http.StatusOK, "ready")
	if id, status, says := s.startPrompt("Hello again"); status != http.StatusAccepted {
		t.Errorf("there is room again, and a start is refused: %d %s", status, says)
	} else {
		accepted[id] = true
	}
	client, err := api.New(s.base(), "")
	must(t, err)
	for id := range accepted {
		var journal messages.Fold
		for e, err := range client.Follow(t.Context(), id, messages.FollowOptions{}) {
			if err := errors.Join(err, journal.Apply(e)); err != nil {
				t.Fatalf("run %s: %v", id, err)
			}
		}
		if state := journal.State(); state.Status != messages.Completed {
			t.Errorf("run %s is %s: %+v", id, state.Status, state.End)
		}
	}
	if code := s.ends(syscall.SIGTERM); code != exit.Terminated {
		t.Errorf("exit code %d", code)
	}
	got := verifyAll(t, kept)
	if want := fmt.Sprintf("is sound: %d runs, ", len(accepted)); got.code != exit.Completed || !strings.Contains(got.stdout, want) {
		t.Errorf("the check says %+v, want %s", got, want)
	}
}

// startPrompt starts a run of prompt, and returns its id or why there is none.
func (s *served) startPrompt(text string) (id messages.RunID, status int, says string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"job": prompt.Name, "detached": true, "input": map[string]any{"text": text, "model": "scripted"}})
	must(s.t, err)
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	resp := testkit.OpenURL(ctx, s.t, http.MethodPost, s.base()+"/v1/runs", string(body), "Content-Type", "application/json")
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(s.t, err)
	var state messages.State
	_ = json.Unmarshal(answer, &state) // says is what counts if it is none
	return state.RunID, resp.StatusCode, string(answer)
}

// until waits until the path answers with the status and the words.
func (s *served) until(path string, status int, says string) {
	s.t.Helper()
	for deadline := time.Now().Add(15 * time.Second); ; {
		code, body := s.get(path)
		if code == status && strings.Contains(body, says) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s says %d %s, want %d %s", path, code, body, status, says)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// smallDisk mounts a disk of a few megabytes.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=4m,mode=0755", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// fillUp writes the file until the disk is full.
func fillUp(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
