package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

// packed is a release of a program that does nothing, as made in its own folder.
func packed(t *testing.T) *release {
	t.Helper()
	stage := t.TempDir()
	for name, text := range map[string]string{"src/main.go": "package main\n\nfunc main() {}\n", "src/go.mod": "module m\n",
		"share/man/lastword.1": ".TH LASTWORD", "share/completions/lastword.bash": "", "share/completions/_lastword": "", "share/completions/lastword.fish": ""} {
		path := filepath.Join(stage, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	program := filepath.Join(stage, "program")
	if _, err := output(filepath.Join(stage, "src"), nil, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "."); err != nil {
		t.Fatal(err)
	}
	share, err := filesOf(filepath.Join(stage, "share"))
	must(t, err)
	r := &release{version: "1.2.3", commit: strings.Repeat("a", 40), at: time.Unix(1700000000, 0).UTC(), share: share, out: t.TempDir(),
		sums: map[string]string{}, binaries: map[target]string{}}
	for _, to := range targets() {
		r.binaries[to] = program
	}
	must(t, r.packAll(stage))
	must(t, r.finish(stage))
	return r
}

func TestRelease(t *testing.T) {
	first, second := packed(t), packed(t)
	t.Run("same bytes", func(t *testing.T) { same(t, first, second) })
	t.Run("manifests", func(t *testing.T) { checkManifests(t, first) })
	t.Run("image", func(t *testing.T) { checkImage(t, first) })
	t.Run("components", func(t *testing.T) { checkComponents(t, first) })
}

// The same programs come to the same bytes, whenever and wherever they are packed, and the digests match the files.
func same(t *testing.T, first, second *release) {
	t.Helper()
	for name, sum := range first.sums {
		if second.sums[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
	if want := 8 + 2*2 + 5 + 6; len(first.sums) != want { // archives, packages, bundles, and the files for all systems
		t.Errorf("%d files are made, want %d", len(first.sums), want)
	}
	if _, err := output(first.out, nil, "sha256sum", "--quiet", "--check", "--strict", "SHA256SUMS"); err != nil {
		t.Error(err)
	}
}

// Every digest and address in what Homebrew, Scoop and the registry of MCP read is of a file of the release.
func checkManifests(t *testing.T, r *release) {
	t.Helper()
	for _, name := range []string{"lastword.rb", "lastword.json", "server.json"} {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		must(t, err)
		parts := strings.Split(string(data), home+"/releases/download/v1.2.3/")[1:]
		for _, part := range parts {
			file, rest, _ := strings.Cut(part, `"`)
			if sum := r.sums[file]; sum == "" || !strings.Contains(rest, `"`+sum+`"`) {
				t.Errorf("%s names %s without its digest", name, file)
			}
		}
		if len(parts) == 0 || strings.Contains(string(data), `"0.0.0"`) {
			t.Errorf("%s is %s", name, data)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(data) {
			t.Errorf("%s is no JSON", name)
		}
	}
	z, err := zip.OpenReader(filepath.Join(r.out, "lastword-windows-amd64.mcpb"))
	must(t, err)
	defer z.Close()
	if _, err := z.Open("server/lastword.exe"); err != nil {
		t.Error(err)
	}
}

// The image has no root: its user owns the folder of the volume, and finds the authorities.
func checkImage(t *testing.T, r *release) {
	t.Helper()
	for arch, img := range images(t, filepath.Join(r.out, "lastword-1.2.3-oci.tar")) {
		config, err := img.ConfigFile()
		if err != nil || config.Architecture != arch || config.OS != "linux" || config.Config.User != "65532:65532" {
			t.Errorf("%+v, %v", config, err)
		}
		checkLayer(t, img)
	}
}

// images are the images in a layout's archive, by their architecture.
func images(t *testing.T, archive string) map[string]v1.Image {
	t.Helper()
	folder := t.TempDir()
	if _, err := output("", nil, "tar", "-C", folder, "-xf", archive); err != nil {
		t.Fatal(err)
	}
	top, err := layout.ImageIndexFromPath(folder)
	must(t, err)
	tops, err := top.IndexManifest()
	if err != nil || len(tops.Manifests) != 1 {
		t.Fatalf("%+v, %v", tops, err)
	}
	index, err := top.ImageIndex(tops.Manifests[0].Digest)
	must(t, err)
	of, err := index.IndexManifest()
	must(t, err)
	all := map[string]v1.Image{}
	for _, m := range of.Manifests {
		if all[m.Platform.Architecture], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != 2 {
		t.Fatalf("the images are %+v", of.Manifests)
	}
	return all
}

func checkLayer(t *testing.T, img v1.Image) {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	data, err := layers[0].Uncompressed()
	must(t, err)
	files, volume := tar.NewReader(data), false
	for {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		text, err := io.ReadAll(files)
		must(t, err)
		if h.Name == "etc/ssl/certs/ca-certificates.crt" && bytes.Count(text, []byte("BEGIN CERTIFICATE")) < 100 {
			t.Errorf("the authorities are %d bytes", len(text))
		}
		volume = volume || h.Name == "var/lib/lastword/" && h.Uid == nobody && h.Typeflag == tar.TypeDir
	}
	if !volume {
		t.Error("the image has no volume")
	}
}

// The list of components can be read, and each relation in it is between two that are listed.
func checkComponents(t *testing.T, r *release) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.out, "lastword-1.2.3.spdx.json"))
	must(t, err)
	defer f.Close()
	doc, err := spdxjson.Read(f)
	must(t, err)
	if err := spdxlib.ValidateDocument(doc); err != nil || len(doc.Packages) != len(targets())+1 { // Go's own library
		t.Errorf("%d packages, %v", len(doc.Packages), err)
	}
}

// Who verifies learns that a byte of the digests changed.
func TestSigned(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if _, err := output("", nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SIGNING_KEY", key)
	r := &release{out: t.TempDir(), sums: map[string]string{"file": strings.Repeat("0", 64)}}
	must(t, r.digests())
	public, err := os.ReadFile(key + ".pub")
	must(t, err)
	text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	must(t, err)
	signers := filepath.Join(r.out, "allowed_signers")
	must(t, os.WriteFile(signers, append([]byte(`lastword namespaces="file" `), public...), 0o600))
	for _, c := range []struct {
		text string
		good bool
	}{{string(text), true}, {strings.Replace(string(text), "0", "1", 1), false}} {
		verify := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "lastword", "-n", "file", "-s", filepath.Join(r.out, "SHA256SUMS.sig"))
		verify.Stdin = strings.NewReader(c.text)
		if out, err := verify.CombinedOutput(); (err == nil) != c.good {
			t.Errorf("%q: %v: %s", c.text, err, out)
		}
	}
}

// must ends the test with the error, where there is one.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
