package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// large makes a folder whose llms-full.txt takes several megabytes, and therefore some time to write.
func large(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "large")
	files := map[string]string{"README.md": "# Large\n\nMuch to write.\n"}
	for i := range 24 {
		line := fmt.Sprintf("Line of page %d, long enough to make a page of many bytes with few of them.\n", i)
		files[fmt.Sprintf("docs/page%d.md", i)] = fmt.Sprintf("# Page %d\n\n%s", i, strings.Repeat(line, 3000))
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
	return dir
}

func env() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull} }

// runGenerate runs lastword to its end.
func runGenerate(t *testing.T, repository, out string) (code string) {
	t.Helper()
	p := process{dir: t.TempDir(), env: env()}
	code, err := p.run([]string{"lastword", "generate", repository, "--out", out})
	must(t, err)
	return code
}

// files maps what is in out/local/large to its bytes; temporary files are counted apart.
func files(t *testing.T, out string) (final map[string]string, temporary int) {
	t.Helper()
	dir := filepath.Join(out, "local", "large")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	final = map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".partial") {
			temporary++
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		final[e.Name()] = string(data)
	}
	return final, temporary
}

// whole checks that each file is what a run that nobody disturbed wrote.
func whole(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range got {
		if text != want[name] {
			t.Errorf("%s has %d bytes, whole it has %d", name, len(text), len(want[name]))
		}
	}
}

// recovers checks that the next run completes, and leaves its files and nothing else.
func recovers(t *testing.T, repository, out string, want map[string]string) {
	t.Helper()
	if code := runGenerate(t, repository, out); code != "0" {
		t.Errorf("the run after the killed one exits with %s", code)
	}
	got, temporary := files(t, out)
	if len(got) != len(want) || temporary > 0 {
		t.Errorf("after the next run there are %d files and %d temporary ones", len(got), temporary)
	}
	whole(t, got, want)
}

func golden(t *testing.T, repository string) map[string]string {
	t.Helper()
	out := t.TempDir()
	if code := runGenerate(t, repository, out); code != "0" {
		t.Fatalf("a run that nobody disturbs exits with %s", code)
	}
	want, _ := files(t, out)
	if len(want) != 4 {
		t.Fatalf("%d files, want 4", len(want))
	}
	return want
}

// The kill comes as soon as llms-full.txt is seen under any name, so right after its making.
func TestKillWhileWriting(t *testing.T) {
	repository := large(t)
	want := golden(t, repository)
	for range 3 {
		out := t.TempDir()
		cmd := exec.Command("lastword", "generate", repository, "--out", out, "--quiet")
		cmd.Env = env()
		must(t, cmd.Start())
		ended := make(chan struct{})
		go func() {
			cmd.Wait()
			close(ended)
		}()
		for writing := false; !writing; {
			select {
			case <-ended:
				writing = true
			default:
				found, err := filepath.Glob(filepath.Join(out, "local", "large", "*llms-full.txt*"))
				writing = err != nil || len(found) > 0
			}
		}
		cmd.Process.Kill()
		<-ended
		got, temporary := files(t, out)
		t.Logf("%v with %d files and %d temporary ones", cmd.ProcessState, len(got), temporary)
		whole(t, got, want)
		recovers(t, repository, out, want)
	}
}

// A file may grow to 1 MiB here: the kernel ends the write of llms-full.txt in its middle, which is where a full disk
// would. What was under the name before stays.
func TestWriteEndsInItsMiddle(t *testing.T) {
	repository, out := large(t), t.TempDir()
	want := golden(t, repository)
	name := filepath.Join(out, "local", "large", "llms-full.txt")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("old"), 0o644)))
	p := process{dir: t.TempDir(), env: env()}
	code, err := p.run([]string{"sh", "-c", "ulimit -f 2048; exec lastword generate --token-budget -1 \"$0\" --out \"$1\"", repository, out})
	if err != nil || code == "0" {
		t.Fatalf("exit code %s, %v, stderr:\n%s", code, err, p.stderr.String())
	}
	got, _ := files(t, out)
	if got["llms-full.txt"] != "old" {
		t.Errorf("llms-full.txt has %d bytes, want the old file", len(got["llms-full.txt"]))
	}
	delete(got, "llms-full.txt")
	whole(t, got, want)
	t.Logf("exit code %s, stderr:\n%s", code, p.stderr.String()[:min(p.stderr.Len(), 2000)])
	recovers(t, repository, out, want)
}
