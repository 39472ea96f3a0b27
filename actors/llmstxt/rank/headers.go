package rank

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/code"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// mostHeaders are looked into to tell C++ from C.
const mostHeaders = 8

// withHeaders gives the repository with its headers, x.h, in the language that they are in: that of most of the code
// beside them, or what they hold.
func (v *survey) withHeaders() *scan.Repository {
	var headers []*scan.File
	var c, cpp int64
	for i := range v.repo.Files {
		f := &v.repo.Files[i]
		switch {
		case f.Kind != scan.Source || f.Place != scan.Product:
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
		if code.IsCpp(v.head(f.Path, importBytes)) {
			n++
		}
	}
	return 2*n > len(headers)
}
