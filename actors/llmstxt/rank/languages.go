package rank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
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
	for _, l := range languagesOf[ecosystem] {
		sum += m.bytes[l]
	}
	return 100 * sum / max(m.sum, 1)
}

// languagesOf gives the languages that the packages of an ecosystem are written in.
var languagesOf = map[string][]string{
	"go": {"Go"}, "npm": {"JavaScript", "TypeScript", "Vue", "Svelte"},
	"deno": {"JavaScript", "TypeScript", "Vue", "Svelte"}, "jsr": {"JavaScript", "TypeScript", "Vue", "Svelte"},
	"cargo": {"Rust"}, "pypi": {"Python"}, "maven": {"Java", "Kotlin", "Scala"},
	"gradle": {"Java", "Kotlin", "Scala"}, "nuget": {"C#"}, "rubygems": {"Ruby"}, "composer": {"PHP"},
	"hex": {"Elixir", "Erlang"}, "swift": {"Swift"}, "cocoapods": {"Swift"}, "hackage": {"Haskell"},
	"cmake": {"C", "C++"}, "meson": {"C", "C++"}, "opam": {"OCaml"}, "pub": {"Dart"}, "cran": {"R"},
	"julia": {"Julia"}, "zig": {"Zig"},
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
