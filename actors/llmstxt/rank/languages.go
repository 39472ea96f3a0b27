package rank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// languageMix is the bytes of hand-written product code per language.
type languageMix struct {
	bytes map[string]int64
	sum   int64
}

func mixOf(files []scan.File) languageMix {
	m := languageMix{bytes: make(map[string]int64)}
	for _, f := range files {
		if f.Kind == scan.Source && f.Place == scan.Product {
			m.bytes[f.Language] += f.Size
			m.sum += f.Size
		}
	}
	return m
}

// isMinor holds for a language with less than a tenth of the code.
func (m languageMix) isMinor(language string) bool { return 10*m.bytes[language] < m.sum }

// share is that of the languages that an ecosystem packs, in percent.
func (m languageMix) share(ecosystem string) int64 {
	var sum int64
	for _, l := range languagesOf(ecosystem) {
		sum += m.bytes[l]
	}
	return 100 * sum / max(m.sum, 1)
}

func languagesOf(ecosystem string) []string {
	switch ecosystem {
	case "go":
		return []string{"Go"}
	case "npm", "deno", "jsr":
		return []string{"JavaScript", "TypeScript", "Vue", "Svelte"}
	case "cargo":
		return []string{"Rust"}
	case "pypi":
		return []string{"Python"}
	case "maven", "gradle":
		return []string{"Java", "Kotlin", "Scala"}
	case "nuget":
		return []string{"C#"}
	case "rubygems":
		return []string{"Ruby"}
	case "composer":
		return []string{"PHP"}
	case "hex":
		return []string{"Elixir", "Erlang"}
	case "swift", "cocoapods":
		return []string{"Swift"}
	case "hackage":
		return []string{"Haskell"}
	case "cmake", "meson":
		return []string{"C", "C++"}
	case "opam":
		return []string{"OCaml"}
	case "pub":
		return []string{"Dart"}
	case "cran":
		return []string{"R"}
	case "julia":
		return []string{"Julia"}
	case "zig":
		return []string{"Zig"}
	}
	return nil
}

// String names up to four with their share of the code.
func (m languageMix) String() string {
	names := slices.SortedFunc(maps.Keys(m.bytes), func(x, y string) int {
		return cmp.Or(cmp.Compare(m.bytes[y], m.bytes[x]), strings.Compare(x, y))
	})
	var parts []string
	for _, name := range names {
		if share := (100*m.bytes[name] + m.sum/2) / max(m.sum, 1); share >= 1 && len(parts) < 4 {
			parts = append(parts, fmt.Sprintf("%s %d %%", name, share))
		}
	}
	return strings.Join(parts, ", ")
}
