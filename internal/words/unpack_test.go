package words_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed889630bf/lastword/internal/words"
)

var update = flag.Bool("update", false, "compress the texts that are part of the program anew")

// The program has these texts compressed, and each is what its file says.
func TestPacked(t *testing.T) {
	for _, name := range []string{"transport/mcp/card/run.html", "internal/secret/rules.tsv", "actors/llmstxt/internal/source/languages.txt",
		"actors/llmstxt/internal/scan/names.txt", "actors/llmstxt/internal/manifest/readers.txt"} {
		file := filepath.Join("..", "..", filepath.FromSlash(name))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := os.ReadFile(file + ".gz")
		if *update && (err != nil || words.Unpack(string(packed)) != string(text)) {
			var out bytes.Buffer
			z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
			_, _ = z.Write(text) // a buffer takes all
			if err = z.Close(); err == nil {
				packed = out.Bytes()
				err = os.WriteFile(file+".gz", packed, 0o644)
			}
		}
		if err != nil || words.Unpack(string(packed)) != string(text) {
			t.Errorf("%s.gz is not %s: run the test with -update (%v)", name, name, err)
		}
	}
}
