package scan

import (
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/ignore"
)

// marks are the attributes of files in .gitattributes, as hosting sites interpret them.
type marks struct {
	generated, vendored *ignore.Rules
}

func (m marks) with(folder, text string) marks {
	return marks{
		generated: m.generated.With(folder, marked(text, "linguist-generated")),
		vendored:  m.vendored.With(folder, marked(text, "linguist-vendored")),
	}
}

// marked turns the lines that set or unset the attribute into an ignore file.
func marked(text, attribute string) string {
	var list []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.ContainsAny(words[0][:1], `#!"[`) {
			continue
		}
		switch set := words[1:]; {
		case slices.Contains(set, attribute), slices.Contains(set, attribute+"=true"):
			list = append(list, words[0])
		case slices.Contains(set, "-"+attribute), slices.Contains(set, attribute+"=false"):
			list = append(list, "!"+words[0])
		}
	}
	return strings.Join(list, "\n")
}
