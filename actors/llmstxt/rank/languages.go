package rank

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
	"github.com/seed889630bf/lastword/actors/repository/source"
	"github.com/seed889630bf/lastword/actors/repository/source/c"
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
	for _, l := range source.In(ecosystem) {
		sum += m.bytes[l]
	}
	return 100 * sum / max(m.sum, 1)
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

// mostHeaders are looked into to tell C++ from C.
const mostHeaders = 8

// withHeaders gives the repository with its headers, x.h, in the language that they are in: that of most of the code
// beside them, or what they hold.
func (v *survey) withHeaders() *scan.Repository {
	var headers []*scan.File
	var c, cpp int64
	for f := range v.files(scan.Source) {
		switch {
		case f.Language == "C++":
			cpp += f.Size
		case f.Language == "C" && path.Ext(f.Path) == ".h":
			headers = append(headers, f)
		case f.Language == "C":
			c += f.Size
		}
	}
	if len(headers) == 0 || cpp < 4*c && !v.areCpp(headers) {
		return v.repo
	}
	repo := *v.repo
	repo.Files = slices.Clone(repo.Files)
	for i := range repo.Files {
		if f := &repo.Files[i]; f.Language == "C" && path.Ext(f.Path) == ".h" {
			f.Language = "C++"
		}
	}
	return &repo
}

// areCpp looks into the largest headers.
func (v *survey) areCpp(headers []*scan.File) bool {
	slices.SortFunc(headers, func(x, y *scan.File) int {
		return cmp.Or(cmp.Compare(y.Size, x.Size), strings.Compare(x.Path, y.Path))
	})
	headers = headers[:min(len(headers), mostHeaders)]
	n := 0
	for _, f := range headers {
		if c.IsPlus(v.head(f.Path, importBytes)) {
			n++
		}
	}
	return 2*n > len(headers)
}
