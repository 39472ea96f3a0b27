package messages

import (
	"fmt"
	"testing"
)

// spied counts how often it is looked at.
type spied struct {
	name string
	on   bool
	n    *int
}

func (c spied) key() string {
	*c.n++
	return c.name
}

func (c spied) live() bool {
	*c.n++
	return c.on
}

// Twice as many elements take twice the steps: none is looked for in the whole list.
func TestShelfLooksAtFewElements(t *testing.T) {
	steps := func(size int) int {
		n := 0
		var h indexed[spied]
		var list []spied
		name := func(i int) string { return fmt.Sprint("x", i*7919%size) }
		for i := range size {
			h.put(&list, h.find(list, name(i), false), spied{name(i), true, &n})
		}
		for i := range size {
			at := h.find(list, name(size-1-i), false)
			h.put(&list, at, spied{name(size - 1 - i), i < 10, &n})
		}
		for range size {
			if at := h.find(list, name(3), false); at < 0 {
				t.Fatal("lost")
			}
			at := h.find(list, name(5), false)
			h.drop(&list, at)
			h.put(&list, h.find(list, name(5), false), spied{name(5), false, &n})
			if h.find(list, "nobody", false) >= 0 {
				t.Fatal("found nobody")
			}
		}
		return n
	}
	for _, size := range []int{1000, 4000} {
		half, whole := steps(size), steps(2*size)
		t.Logf("%d steps for %d", half/size, size)
		if whole > 3*half {
			t.Errorf("%d elements take %d steps, %d take %d", size, half, 2*size, whole)
		}
	}
}
