package rank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// mix gives the bytes of hand-written product code per language, and their sum.
func (b *builder) mix() (map[string]int64, int64) {
	bytes, sum := make(map[string]int64), int64(0)
	for _, f := range b.repo.Files {
		if f.Kind == scan.Source && f.Place == scan.Product {
			bytes[f.Language] += f.Size
			sum += f.Size
		}
	}
	return bytes, sum
}

// languages names up to four with their share of the code.
func (b *builder) languages() string {
	bytes, sum := b.mix()
	names := slices.SortedFunc(maps.Keys(bytes), func(x, y string) int {
		return cmp.Or(cmp.Compare(bytes[y], bytes[x]), strings.Compare(x, y))
	})
	var parts []string
	for _, name := range names {
		if share := (100*bytes[name] + sum/2) / max(sum, 1); share >= 1 && len(parts) < 4 {
			parts = append(parts, fmt.Sprintf("%s %d %%", name, share))
		}
	}
	return strings.Join(parts, ", ")
}
