package oracle_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/tokens"
)

// pieces are what the encoding's pattern tells apart.
var pieces = strings.Split("a|b|A|B|é|É|ǅ|ʰ|字|あ|ا|\u0301|\u0903|1|9|٣|½| |  |\t|\u00a0|\u3000|\n|\r\n|\r|/|'s|'S|'ll|'Re|'x|'|!|.|_|->|"+
	"😀|👩‍💻|\u200d|\ufeff|<|endoftext|>|function|return|the|Über|ﬁ|\x00|Ⅷ|ª", "|")

// blank is what the other implementation splits otherwise than the encoding's pattern \s*[\r\n]+ says.
var blank = regexp.MustCompile(`([\r\n])(?:[\r\n\p{Zs}\t]*[\p{Zs}\t][\r\n])+`)

func TestTokens(t *testing.T) {
	encoding := codec.NewO200kBase()
	compare := func(text string) {
		t.Helper()
		text = blank.ReplaceAllString(text, "$1")
		want, err := encoding.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokens.Count(text); got != want {
			t.Errorf("%.200q has %d tokens, not %d", text, want, got)
		}
	}
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	for range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		compare(b.String())
	}
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txt") {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if utf8.Valid(text) {
				compare(string(text))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
