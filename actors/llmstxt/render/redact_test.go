package render_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
)

func TestSecretsInFilesAreRedacted(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("a", 36)
	for kind, got := range rendered(t, "It is "+token+".\n") {
		if !strings.Contains(got, "It is [redacted].") {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// rendered puts the text where secrets can come from.
func rendered(t *testing.T, text string) map[string]string {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	must(t, root.WriteFile("a.md", []byte(text), 0o644))
	var full, ctx bytes.Buffer
	index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: []rank.Link{{Title: "a", URL: "a.md", Path: "a.md"}}}}}
	if _, err := render.Full(t.Context(), &full, root.FS(), index, render.Pack{}); err != nil {
		t.Fatal(err)
	}
	if _, err := render.Ctx(t.Context(), &ctx, root.FS(), index, render.Format2, render.Pack{}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"Full": full.String(), "Ctx": ctx.String()}
}

func TestSecretsInNotesAreRedacted(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("a", 36)
	hidden := token[:10] + "\u200b" + token[10:] // cleaning would put it together
	for _, secret := range []string{token, hidden} {
		var out bytes.Buffer
		index := &rank.Index{Title: secret, Summary: secret, Facts: []rank.Fact{{Name: "n", Value: secret}},
			Sections: []rank.Section{{Name: "Docs", Links: []rank.Link{{Title: secret, URL: "a", Note: secret}}}}}
		must(t, render.Txt(&out, index))
		if strings.Contains(out.String(), token) || strings.Count(out.String(), "redacted") != 5 {
			t.Errorf("got\n%s", out.String())
		}
	}
}
