package scan_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// opened counts how often each file is opened.
type opened struct {
	fstest.MapFS
	times map[string]int
}

func (o opened) Open(name string) (fs.File, error) {
	o.times[name]++
	return o.MapFS.Open(name)
}

// "A file is read once": by the scan, if its head is all of it, else by the scan and the first of the readers. One of
// which all can be shown is searched once.
func TestFilesAreReadOnce(t *testing.T) {
	small, large := "package a\n", strings.Repeat("// Widgets are turned.\r\n", 500)
	files := opened{fstest.MapFS{"small.go": {Data: []byte(small)}, "large.go": {Data: []byte(large)}}, map[string]int{}}
	memory := scan.Remember(files)
	if _, err := scan.Read(t.Context(), memory, scan.Limits{}, nil); err != nil {
		t.Fatal(err)
	}
	looks, upper := map[string]int{}, strings.ToUpper(strings.ReplaceAll(large, "\r", ""))
	plain := scan.NewReader(fstest.MapFS(files.MapFS))
	for range 3 {
		r := scan.NewReader(memory)
		for name, most := range map[string]int64{"small.go": 4, "large.go": 100} {
			for _, limit := range []int64{most, 1 << 20} {
				text, whole, err := r.Read(t.Context(), name, limit)
				want, all, _ := plain.Read(t.Context(), name, limit)
				if err != nil || string(text) != string(want) || whole != all {
					t.Errorf("%s: %q, %v, %v", name, text, whole, err)
				}
			}
			shown, err := r.Shown(t.Context(), name, 1<<20, func(text []byte) []byte {
				looks[name]++
				if name == "large.go" {
					return bytes.ToUpper(text)
				}
				return text
			})
			if want := map[string]string{"small.go": small, "large.go": upper}[name]; err != nil || string(shown) != want {
				t.Errorf("%s is shown as %q, %v", name, shown, err)
			}
		}
		r.Close()
	}
	if files.times["small.go"] != 1 || files.times["large.go"] != 2 {
		t.Errorf("opened %v", files.times)
	}
	if looks["small.go"] != 1 || looks["large.go"] != 3 {
		t.Errorf("searched %v", looks)
	}
}
