package lab_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestQualityOverHTTPS generates from a Git server on this machine, over https, what it generates from the folder:
// the same files in the same order, and the commit that was served is on record.
func TestQualityOverHTTPS(t *testing.T) {
	qualitySamples(t)
	binary, s := buildBinary(t), sampleNamed(t, "cobra")
	tree := s.source.obtain(t)
	root, commit := serveable(t, tree, s.name)
	server := httptest.NewTLSServer(&cgi.Handler{
		Path: gitBackend(t),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	})
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))

	url := server.URL + "/" + s.name + ".git"
	made := generate(t, binary, []string{"SSL_CERT_FILE=" + authority}, "--allow-private", url)
	doc := readDocument(t, made.llms)
	folder := readDocument(t, generate(t, binary, nil, tree).llms)
	if !slices.Equal(s.judge(t, tree, doc).order, linked(t, tree, folder)) {
		t.Errorf("over https %v\nof the folder %v", doc.links(), folder.links())
	}
	if got := servedCommit(t, made.llms); got != commit {
		t.Errorf("the commit %s is on record, not %s", got, commit)
	}
	agree(t, made.llms, doc)
	accepted(t, binary, made.llms, "--repository", tree)
}

// servedCommit is what the llms.json beside llms.txt says was read.
func servedCommit(t *testing.T, llms string) string {
	t.Helper()
	var made struct{ Repository struct{ Commit string } }
	if err := json.Unmarshal(readFile(t, strings.TrimSuffix(llms, ".txt")+".json"), &made); err != nil {
		t.Fatal(err)
	}
	return made.Repository.Commit
}

// serveable makes a bare repository <name>.git of the tree, in one commit, and returns the folder that it is in.
func serveable(t *testing.T, tree, name string) (root, commit string) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, name+".git")
	env := []string{
		"GIT_DIR=" + dir, "GIT_WORK_TREE=" + tree, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=kit", "GIT_AUTHOR_EMAIL=kit@localhost", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=kit", "GIT_COMMITTER_EMAIL=kit@localhost", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z",
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A", "-f"}, {"commit", "-q", "-m", "all"},
	} {
		run(t, tree, env, "git", args...)
	}
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return root, strings.TrimSpace(string(out))
}

func gitBackend(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
}
