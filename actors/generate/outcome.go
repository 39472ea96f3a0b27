package generate

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/internal/words"
)

// Outcome says for people what a run has found, as its [Result] does: the title, a summary or "", and the numbers.
func Outcome(result json.RawMessage) (title, summary, numbers string) {
	var r Result
	if json.Unmarshal(result, &r) != nil {
		return "", "", ""
	}
	numbers = words.Count(r.Links, "link") + " from " + words.Count(r.Files, "file")
	if r.Commit != "" {
		numbers += " at " + r.Commit[:min(12, len(r.Commit))]
	}
	if r.Dropped > 0 {
		numbers += ", " + words.Thousands(int64(r.Dropped)) + " dropped"
		if r.TokenBudget > 0 {
			numbers += " to keep " + words.Thousands(r.TokenBudget) + " tokens"
		}
	}
	if r.Tokens > 0 {
		numbers += ", " + words.Thousands(int64(r.Tokens)) + " tokens in llms-full.txt"
	}
	if r.Secrets > 0 {
		numbers += ", " + words.Count(r.Secrets, "secret") + " redacted"
	}
	switch {
	case r.Model != "" && r.Cause != "":
		numbers += ", without " + r.Model
	case r.Model != "":
		numbers += ", described by " + r.Model
	}
	if r.Cached {
		numbers += ", from the cache"
	}
	return r.Title, r.Summary, numbers
}
