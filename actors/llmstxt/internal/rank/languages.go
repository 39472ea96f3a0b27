package rank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

// languageMix is the size of the hand-written code of the product, by language.
type languageMix struct {
	bytes map[string]int64
	sum   int64
}

// mixOf measures the code. It leaves out templates that the product writes for others, unless there is hardly
// anything else.
func mixOf(files []scan.File) languageMix {
	all, own := languageMix{bytes: make(map[string]int64)}, languageMix{bytes: make(map[string]int64)}
	for _, f := range files {
		if f.Kind != scan.Source || f.Place != scan.Product {
			continue
		}
		all.add(f)
		if !template.MatchString(f.Path) {
			own.add(f)
		}
	}
	if 10*own.sum < all.sum {
		return all
	}
	return own
}

var template = lazyregexp.New(`(?i)(^|/)_?(templates?|skeletons?|boilerplates?|scaffold(s|ing)?|starters?)/|\{\{`)

func (m *languageMix) add(f scan.File) {
	m.bytes[f.Language] += f.Size
	m.sum += f.Size
}

// share returns the percentage of code in the languages of an ecosystem.
func (m languageMix) share(ecosystem string) int64 {
	var sum int64
	for _, l := range source.In(ecosystem) {
		sum += m.bytes[l]
	}
	return 100 * sum / max(m.sum, 1)
}

// lacks reports whether there is code, but none in the languages of the ecosystem.
func (m languageMix) lacks(ecosystem string) bool {
	return m.sum > 0 && len(source.In(ecosystem)) > 0 && m.share(ecosystem) == 0
}

// String lists up to four languages with their share of the code.
func (m languageMix) String() string {
	names := stable.Sorted(maps.Keys(m.bytes), func(x, y string) int {
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

// isForeign reports whether the file's language is neither the manifests' above it nor a large part of the
// code, as in scripts around the product.
func (v *survey) isForeign(f *scan.File) bool {
	if 5*v.mix.bytes[f.Language] > 2*v.mix.sum {
		return false
	}
	var known []string
	for _, m := range slices.Concat(v.units[0].Manifests, v.unitOf(f.Path).Manifests) {
		known = append(known, source.In(m.Ecosystem)...)
	}
	return len(known) > 0 && !slices.Contains(known, f.Language)
}
