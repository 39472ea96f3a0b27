package oracle_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
)

// What gitleaks finds of texts that its rules describe, lastword redacts. The rest are names of clients and public keys,
// tokens that only a word behind them tells, and samples whose letters are of the wrong case.
func TestSecrets(t *testing.T) {
	detector, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	const seed, each = 1, 20
	random := rand.New(rand.NewPCG(seed, seed))
	rules, known := 0, 0
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
