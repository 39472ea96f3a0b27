package web_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// page is the source of the page.
const page = "../../../transport/web/page"

var update = flag.Bool("update", false, "build the page")

// TestBuilt compares what the program holds with what esbuild makes of the page's source. go generate rewrites it.
func TestBuilt(t *testing.T) {
	source, err := filepath.Abs(page)
	must(t, err)
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(source, "main.tsx")}, Outdir: source, EntryNames: "page",
		Bundle: true, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Format: api.FormatESModule, Target: api.ES2023, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsEndOfFile,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		Alias: vendored(source),
	})
	for _, message := range append(result.Errors, result.Warnings...) {
		t.Errorf("%+v: %s", message.Location, message.Text)
	}
	if len(result.OutputFiles) != 2 {
		t.Fatalf("esbuild made %d files, want the script and the styles", len(result.OutputFiles))
	}
	for _, made := range result.OutputFiles {
		name := filepath.Join(page, "..", "built", filepath.Base(made.Path)+".gz")
		had, _ := os.ReadFile(name) // what is missing or broken is built
		if plain, err := unzip(had); err == nil && bytes.Equal(plain, made.Contents) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what esbuild makes of the source: run go generate ./transport/web", name)
			continue
		}
		must(t, os.WriteFile(name, zipped(t, made.Contents), 0o644))
	}
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	must(t, err)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return out.Bytes()
}

// vendored is where the page's libraries are, by the names that its source imports.
func vendored(source string) map[string]string {
	vendor := func(name string) string { return filepath.Join(source, "vendor", name+".mjs") }
	return map[string]string{"preact": vendor("preact"), "preact/hooks": vendor("preact-hooks"),
		"preact/jsx-runtime": vendor("preact-jsx-runtime"), "@preact/signals": vendor("signals"),
		"@preact/signals-core": vendor("signals-core"), "marked": vendor("marked")}
}
