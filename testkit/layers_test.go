package testkit_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostLayers is the length that the longest chain of imports may have.
const mostLayers = 11

// house is what each package outside the lab imports of this module.
type house map[string]map[string]bool

func houseOf(sources []source) house {
	h := house{}
	for _, src := range sources {
		if src.test || inLab(src.pkg) {
			continue
		}
		if h[src.pkg] == nil {
			h[src.pkg] = map[string]bool{}
		}
		for _, imp := range src.imports {
			if rel, ours := strings.CutPrefix(imp, module+"/"); ours {
				h[src.pkg][rel] = true
			}
		}
	}
	return h
}

// chains returns for each package the longest chain of imports that begins with it, the first by name of several.
func (h house) chains() map[string][]string {
	all := map[string][]string{}
	var from func(pkg string) []string
	from = func(pkg string) []string {
		if all[pkg] == nil {
			var longest []string
			for _, imp := range slices.Sorted(maps.Keys(h[pkg])) {
				if chain := from(imp); len(chain) > len(longest) {
					longest = chain
				}
			}
			all[pkg] = append([]string{pkg}, longest...)
		}
		return all[pkg]
	}
	for pkg := range h {
		from(pkg)
	}
	return all
}

// TestLayers holds how many packages a change may have to pass from the bottom to the top.
func TestLayers(t *testing.T) {
	for pkg, chain := range houseOf(readModule(t)).chains() {
		if len(chain) > mostLayers {
			t.Errorf("%s has %d layers, and %d are the most: %s", pkg, len(chain), mostLayers, strings.Join(chain, " > "))
		}
	}
}

// layers says in which layers a room's packages are. A package without imports is in layer 1.
func layers(chains map[string][]string, pkgs []string) string {
	low, high := mostLayers+1, 0
	for _, pkg := range pkgs {
		low, high = min(low, len(chains[pkg])), max(high, len(chains[pkg]))
	}
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}
