package messages

import "slices"

// short is the length up to which a list is searched without an index.
const short = 24

// item is an element of a list in a State.
type item interface {
	// key is the item's name, unique in the list.
	key() string
	// live reports whether the item is still open, which each list defines.
	live() bool
}

// indexed is a Fold's knowledge of one list of its State. With it an event costs the same for short and for long
// lists.
type indexed[T item] struct{ places }

// places is what indexed knows of a list of any type. The compiler makes no copy of its methods for each.
type places struct {
	at    map[string]int // positions by key; nil while the list is short
	found int32          // position that was found last
	own   bool           // nobody else holds the list's memory
}

// find returns the position of the key, or -1. With bare it builds no index.
func (h *indexed[T]) find(list []T, key string, bare bool) int {
	if int(h.found) < len(list) && list[h.found].key() == key {
		return int(h.found)
	}
	return h.search(len(list), func(i int) string { return list[i].key() }, key, bare)
}

func (p *places) search(n int, keyOf func(int) string, key string, bare bool) int {
	i := -1
	if !bare && n > short {
		if place, ok := p.long(n, keyOf)[key]; ok {
			i = place
		}
	} else {
		for j := 0; j < n && i < 0; j++ {
			if keyOf(j) == key {
				i = j
			}
		}
	}
	p.found = int32(max(i, 0))
	return i
}

// long returns the index of a long list, and builds it first if needed.
func (p *places) long(n int, keyOf func(int) string) map[string]int {
	if p.at == nil {
		p.at = make(map[string]int, 2*n)
		for i := n - 1; i >= 0; i-- {
			p.at[keyOf(i)] = i
		}
	}
	return p.at
}

// put replaces the item at position i, or appends v for -1. It appends in place: older States end before the new
// item.
func (h *indexed[T]) put(list *[]T, i int, v T) {
	if i >= 0 {
		h.own = unshared(list, h.own)
		(*list)[i] = v
		return
	}
	*list = append(*list, v)
	if h.at != nil {
		h.at[v.key()] = len(*list) - 1
	}
}

// drop removes the item at position i, and moves the last item there.
func (h *indexed[T]) drop(list *[]T, i int) {
	h.own = unshared(list, h.own)
	gone, last := (*list)[i], len(*list)-1
	(*list)[i] = (*list)[last]
	if h.at != nil {
		h.at[(*list)[i].key()] = i
		delete(h.at, gone.key())
	}
	clear((*list)[last:])
	*list = (*list)[:last]
}

// open returns the positions of the live items, in order.
func open[T item](list []T) (out []int) {
	for i, v := range list {
		if v.live() {
			out = append(out, i)
		}
	}
	return out
}

// unshared copies the list, unless nobody else holds its memory.
func unshared[T any](list *[]T, own bool) bool {
	if !own {
		*list = slices.Clone(*list)
	}
	return true
}

func (t TaskState) key() string { return t.Name }
func (t TaskState) live() bool  { return t.Status == TaskRunning }

func (t Stream) key() string { return t.Name }
func (t Stream) live() bool  { return !t.Closed }

// empty reports whether the stream has no text since it began or was reopened.
func (t Stream) empty() bool { return t.Index == 0 && !t.Closed }

func (p Progress) key() string { return p.Task }
func (p Progress) live() bool  { return false }

func (c Call) key() string { return c.ID }

// live reports whether a rewind must name the call's progress.
func (c Call) live() bool { return !c.Model && !c.Ended && c.Progress != ToolProgress{} }

func (a Artifact) key() string { return a.Name }
func (a Artifact) live() bool  { return false }

func (i Input) key() string { return i.Request }
func (i Input) live() bool  { return !i.Closed }

func (c ChildState) key() string { return string(c.Child) }
func (c ChildState) live() bool  { return !c.Status.IsEnded() }

func (s StepState) key() string { return s.Name }
func (s StepState) live() bool  { return false }
