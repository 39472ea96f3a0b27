package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

// gated lets part of an answer through, and the rest when the gate opens.
type gated struct {
	http.ResponseWriter
	part int
	gate <-chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	first := min(g.part, len(p))
	n, err := g.ResponseWriter.Write(p[:first])
	if g.part -= n; err != nil || first == len(p) {
		return n, err
	}
	http.NewResponseController(g.ResponseWriter).Flush()
	<-g.gate
	rest, err := g.ResponseWriter.Write(p[first:])
	return n + rest, err
}

// orchard is a repository that no compression makes smaller, served as X.git and as X.tar.
func orchard(t *testing.T, gate <-chan struct{}) (url string) {
	t.Helper()
	root := t.TempDir()
	noise := make([]byte, 2<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, text := range map[string][]byte{"README.md": []byte("# Orchard\n\nGrows apples.\n"), "apple.bin": noise} {
		must(t, os.WriteFile(filepath.Join(root, name), text, 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "README.md", "apple.bin"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"},
		{"clone", "-q", "--bare", ".", "orchard.git"}, {"archive", "-o", "orchard.tar", "HEAD"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	handler, err := repositories(root)
	must(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&gated{w, 1 << 20, gate}, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestTerminalShowsWhatIsReceived: while a repository comes, the bytes are counted, of their total where that is
// known.
func TestTerminalShowsWhatIsReceived(t *testing.T) {
	for name, like := range map[string]string{
		"/orchard.git": `fetch +[0-9.]+ s  [0-9]+\.[0-9] (k|M)B\n`,
		"/orchard.tar": `fetch +[0-9.]+ s  [0-9]+\.[0-9] (k|M)B of 2\.1 MB\n`,
	} {
		gate := make(chan struct{})
		s := start(t, nil, "lastword", "generate", orchard(t, gate)+name, "--allow-http", "--allow-private", "--no-cache")
		shown := regexp.MustCompile(like)
		if !s.until(func() bool { return shown.MatchString(s.screen.Text()) }) {
			t.Errorf("%s: the terminal never shows what came but\n%s", name, s.screen.Text())
		}
		close(gate)
		s.ends(exit.Completed)
	}
}
