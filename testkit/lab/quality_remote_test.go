package lab_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// remote is where a repository comes from, by the ordinary client of its registry, and the checksum that it must
// have; or a tree of testdata.
type remote struct {
	registry string // module, npm, debian, git or tree
	name     string // as the registry knows it
	version  string // of a module or an npm package; the upstream archive's file name of a Debian source; a commit
	sum      string
	folder   string // to unpack into
}

func parseRemote(folder, text string) (remote, error) {
	f := strings.Fields(text)
	if len(f) == 3 && f[0] == "git" {
		return remote{registry: f[0], name: f[1], version: f[2], folder: folder}, nil
	}
	if text == "tree" {
		return remote{registry: text, name: folder, folder: folder}, nil
	}
	if len(f) != 4 {
		return remote{}, fmt.Errorf("a source is registry, name, version and checksum, not %q", text)
	}
	return remote{registry: f[0], name: f[1], version: f[2], sum: f[3], folder: folder}, nil
}

// obtain returns a folder that holds the repository. Archives are kept between runs. What cannot be had fails the
// test.
func (r remote) obtain(t *testing.T) string {
	t.Helper()
	switch r.registry {
	case "module":
		return r.module(t)
	case "npm":
		return r.unpack(t, fmt.Sprintf("%s-%s.tgz", r.name, r.version), r.pack)
	case "debian":
		return r.unpack(t, r.version, r.aptSource)
	case "git":
		return r.checkout(t)
	case "tree":
		return r.tree(t)
	}
	t.Fatalf("no client is known for %s", r.registry)
	return ""
}

// tree writes the archive of testdata/quality/trees into a folder.
func (r remote) tree(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "quality", "trees", r.name+".txtar"))
	must(t, err)
	dir := filepath.Join(t.TempDir(), r.folder)
	for _, f := range archive.Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		writeFile(t, file, f.Data)
	}
	return dir
}

func (r remote) module(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", r.name+"@"+r.version)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	var had struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &had); err != nil || had.Sum != r.sum {
		t.Fatalf("%s has the checksum %s, not %s: %v", r.name, had.Sum, r.sum, err)
	}
	return had.Dir
}

func (r remote) pack(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, nil, "npm", "pack", "--silent", "--ignore-scripts", r.name+"@"+r.version)
}

// aptSource downloads the source package of this machine's release, with lists of its own that ask for sources.
func (r remote) aptSource(t *testing.T, dir string) {
	t.Helper()
	lists := filepath.Join(t.TempDir(), "apt")
	for _, d := range []string{"lists/partial", "cache/archives/partial"} {
		must(t, os.MkdirAll(filepath.Join(lists, d), 0o755))
	}
	conf, file := filepath.Join(lists, "apt.conf"), sourceList(t, lists)
	text := fmt.Sprintf("Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts \"-\";\nDir::State::lists %q;\nDir::Cache %q;\n",
		file, filepath.Join(lists, "lists"), filepath.Join(lists, "cache"))
	writeFile(t, conf, []byte(text))
	env := []string{"APT_CONFIG=" + conf}
	run(t, dir, env, "apt-get", "update", "-qq")
	run(t, dir, env, "apt-get", "source", "-qq", "--tar-only", "--download-only", r.name)
}

// sourceList writes the machine's own Debian list again, for sources in place of binaries.
func sourceList(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob("/etc/apt/sources.list.d/*.sources")
	must(t, err)
	for _, f := range files {
		text := string(readFile(t, f))
		if !strings.Contains(text, "debian-archive-keyring") {
			continue
		}
		file := filepath.Join(dir, "own.sources")
		writeFile(t, file, []byte(strings.ReplaceAll(text, "Types: deb\n", "Types: deb-src\n")))
		return file
	}
	t.Fatal("needs Debian with its list in /etc/apt/sources.list.d")
	return ""
}

// checkout gives the files of a commit, without those that a partial copy lacks. The repository is fetched once; where
// its host cannot be reached, the sample is skipped.
func (r remote) checkout(t *testing.T) string {
	t.Helper()
	repo := filepath.Join(kitFolder(t, "git"), r.folder+".git")
	has := func() bool {
		return exec.CommandContext(t.Context(), "git", "--git-dir", repo, "cat-file", "-e", r.version).Run() == nil
	}
	if !has() {
		run(t, ".", nil, "git", "init", "-q", "--bare", repo)
		fetch := exec.CommandContext(t.Context(), "git", "--git-dir", repo, "fetch", "-q", "--depth=1", "https://"+r.name,
			r.version)
		fetch.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if said, err := fetch.CombinedOutput(); err != nil || !has() {
			t.Skipf("%s cannot be had: %v %s", r.name, err, said)
		}
	}
	dir := filepath.Join(t.TempDir(), r.folder)
	must(t, os.Mkdir(dir, 0o755))
	env := []string{"GIT_DIR=" + repo, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	run(t, dir, env, "git", "read-tree", r.version)
	files := exec.CommandContext(t.Context(), "git", "checkout-index", "--all", "--quiet")
	files.Dir, files.Env = dir, append(os.Environ(), env...)
	_ = files.Run() // it fails where an object is missing, and writes the others
	return dir
}

// unpack has the archive downloaded where it is not at hand, proves its checksum and unpacks it.
func (r remote) unpack(t *testing.T, archive string, download func(*testing.T, string)) string {
	t.Helper()
	kept := kitFolder(t, "archives")
	file := filepath.Join(kept, archive)
	if _, err := os.Stat(file); err != nil {
		download(t, kept)
	}
	if sum := sha256.Sum256(readFile(t, file)); "sha256:"+hex.EncodeToString(sum[:]) != r.sum {
		t.Fatalf("%s has the checksum %x, not %s", file, sum, r.sum)
	}
	dir := filepath.Join(t.TempDir(), r.folder)
	must(t, os.Mkdir(dir, 0o755))
	run(t, dir, nil, "tar", "-xf", file, "--strip-components=1", "--no-same-owner")
	return dir
}

// kitFolder is a folder, made where it is missing, that lasts from run to run.
func kitFolder(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	must(t, err)
	dir := filepath.Join(cache, "lastword-testkit", name)
	must(t, os.MkdirAll(dir, 0o755))
	return dir
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	combined(t, cmd)
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	must(t, err)
	return n
}

// reading is what the parsers of testdata/quality/npm make of a file.
type reading struct {
	OK     bool // llmstxt-kit's
	Errors []struct {
		Rule string
		Line int
	}
	Title, Summary string // the rest is parse-llms-txt's
	Sections       []struct {
		Name  string
		Links int
	}
}

// agree holds the file against two parsers that are not ours. llmstxt-kit takes absolute links alone.
func agree(t *testing.T, file string, d document) {
	t.Helper()
	theirs := theirReading(t, file)
	if absolute(d) && !theirs.OK {
		t.Errorf("llmstxt-kit: %v", theirs.Errors)
	}
	if theirs.Title != d.title || theirs.Summary != d.summary {
		t.Errorf("parse-llms-txt reads %q, %q; not %q, %q", theirs.Title, theirs.Summary, d.title, d.summary)
	}
	if len(theirs.Sections) != len(d.sections) {
		t.Fatalf("parse-llms-txt reads %d sections, not %d", len(theirs.Sections), len(d.sections))
	}
	for i, s := range theirs.Sections {
		if s.Name != d.sections[i].name || s.Links != len(d.sections[i].links) {
			t.Errorf("parse-llms-txt reads %d links in %q, not %d in %q",
				s.Links, s.Name, len(d.sections[i].links), d.sections[i].name)
		}
	}
}

func absolute(d document) bool {
	for _, l := range d.links() {
		if !strings.HasPrefix(l, "https://") {
			return false
		}
	}
	return len(d.links()) > 0
}

func theirReading(t *testing.T, file string) (r reading) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "quality"), "read.mjs"), file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	must(t, json.Unmarshal(out, &r))
	return r
}

// npmInstall brings the files of testdata/<name>/npm and what their package-lock.json names into a folder that is
// kept.
func npmInstall(t *testing.T, name string) string {
	t.Helper()
	dir, from := kitFolder(t, name+"-npm"), filepath.Join("testdata", name, "npm")
	files, err := filepath.Glob(filepath.Join(from, "*"))
	must(t, err)
	for _, f := range files {
		writeFile(t, filepath.Join(dir, filepath.Base(f)), readFile(t, f))
	}
	locked, stamp := readFile(t, filepath.Join(from, "package-lock.json")), filepath.Join(dir, "installed")
	if had, err := os.ReadFile(stamp); err != nil || !bytes.Equal(had, locked) {
		run(t, dir, nil, "npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund")
		writeFile(t, stamp, locked)
	}
	return dir
}
