package oracle_test

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/secret"
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
		if got := llmstxt.CountTokens(text); got != want {
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

// Lastword redacts what gitleaks finds in texts that its rules describe. The rest are names of clients and public keys,
// tokens that only a word behind them tells, and samples whose letters are of the wrong case.
func TestSecrets(t *testing.T) {
	detector, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	const seed, each = 1, 20
	random, rules, known := rand.New(rand.NewPCG(seed, seed)), 0, 0
	for _, id := range slices.Sorted(maps.Keys(detector.Config.Rules)) {
		rule := detector.Config.Rules[id]
		if rule.Regex == nil {
			continue
		}
		found, missed, last := 0, 0, ""
		for range each {
			text, err := sample(random, rule.Regex.String())
			if err != nil {
				t.Fatal(err)
			}
			if len(detector.DetectString(text)) == 0 {
				continue // its entropy is too low
			}
			found++
			if secret.Redact(text) == text {
				missed++
				last = text
			}
		}
		if found == 0 {
			continue
		}
		if rules++; missed*4 <= found {
			known++
		} else {
			t.Logf("%s: %d of %d are missed, such as %.150q", id, missed, found, last)
		}
	}
	t.Logf("%d of the %d rules of gitleaks are known", known, rules)
	if known*100 < rules*90 {
		t.Error("too few")
	}
}
