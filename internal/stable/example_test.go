package stable_test

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/seed889630bf/lastword/internal/stable"
)

func Example() {
	byLength := func(a, b string) int { return cmp.Compare(len(a), len(b)) }
	list := []string{"pear", "fig", "plum", "kiwi", "nut"}
	stable.Sort(list, byLength)
	fmt.Println(list, stable.Sorted(maps.Keys(map[string]bool{"plum": true, "fig": true}), byLength))
	fmt.Println(stable.DeleteFunc(list, func(name string) bool { return len(name) == 3 }))
	// Output:
	// [fig nut pear plum kiwi] [fig plum]
	// [pear plum kiwi]
}
