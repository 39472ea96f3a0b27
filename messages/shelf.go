package messages

import "slices"

// short is how long a list may be that is searched from its begin; a longer one has an index.
const short = 24

// item is an element of a list of State.
type item interface {
	// key is its name, unique in the list.
	key() string
	// live reports whether it still goes on; what that means is the list's own.
	live() bool
}

// shelf is what a Fold knows of one list of its State, so that no event costs more where the list is long.
type shelf[T item] struct {
	at    map[string]int      // the place of each, once the list is long
	alive map[string]struct{} // the keys of those that are live, once somebody asked in a long list
	live  int                 // how many are live
	found int                 // the place that was asked for last
	own   bool                // nobody else sees the memory of the list
}

// shelve returns the shelf of a list that somebody else may see.
func shelve[T item](list []T) shelf[T] { return shelf[T]{live: living(list)} }

func living[T item](list []T) int {
	n := 0
	for _, v := range list {
		if v.live() {
			n++
		}
	}
	return n
}

// find returns the place of the key in the list, or -1. A Fold of one event is bare: it makes no index.
func (h *shelf[T]) find(list []T, key string, bare bool) int {
	if h.found < len(list) && list[h.found].key() == key {
		return h.found
	}
	i := -1
	if bare || len(list) <= short {
		i = slices.IndexFunc(list, func(v T) bool { return v.key() == key })
	} else {
		if h.at == nil {
			h.index(list)
		}
		if place, ok := h.at[key]; ok {
			i = place
		}
	}
	h.found = max(i, 0)
	return i
}

func (h *shelf[T]) index(list []T) {
	h.at = make(map[string]int, 2*len(list))
	for i, v := range slices.Backward(list) {
		h.at[v.key()] = i
	}
}

// set puts v at the place, or at the end where the place is -1.
func (h *shelf[T]) set(list *[]T, i int, v T) {
	if i < 0 {
		i = len(*list)
	}
	h.put(list, i, v)
}

// put puts v at the place; at len(*list) it is added, in place, for whoever else sees the list sees it end before.
func (h *shelf[T]) put(list *[]T, i int, v T) {
	was := false
	if i < len(*list) {
		h.own = unshared(list, h.own)
		was = (*list)[i].live()
		(*list)[i] = v
	} else {
		*list = append(*list, v)
		if h.at != nil {
			h.at[v.key()] = i
		}
	}
	if v.live() != was {
		h.turn(v.key(), was)
	}
}

// turn keeps count of what becomes live, or is no longer.
func (h *shelf[T]) turn(key string, was bool) {
	if was {
		h.live--
		delete(h.alive, key)
		return
	}
	h.live++
	if h.alive != nil {
		h.alive[key] = struct{}{}
	}
}

// drop removes the element at the place; the last one takes the place.
func (h *shelf[T]) drop(list *[]T, i int) {
	h.own = unshared(list, h.own)
	gone, last := (*list)[i], len(*list)-1
	if gone.live() {
		h.turn(gone.key(), true)
	}
	delete(h.at, gone.key())
	if i < last {
		(*list)[i] = (*list)[last]
		if h.at != nil {
			h.at[(*list)[i].key()] = i
		}
	}
	clear((*list)[last:])
	*list = (*list)[:last]
}

// living returns the places of those that are live, in order.
func (h *shelf[T]) living(list []T) []int {
	var out []int
	if len(list) <= short {
		for i, v := range list {
			if v.live() {
				out = append(out, i)
			}
		}
		return out
	}
	now := make(map[string]struct{}, h.live) // a map keeps the size that it once had: a new one is as long as what lives
	if h.alive == nil {
		for i, v := range list {
			if v.live() {
				now[v.key()], out = struct{}{}, append(out, i)
			}
		}
	} else {
		for key := range h.alive {
			now[key], out = struct{}{}, append(out, h.find(list, key, false))
		}
		slices.Sort(out)
	}
	h.alive = now
	return out
}

// unshared makes the list one that nobody else sees, unless it is.
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

// empty reports whether nothing was said on the stream since it began, or began again.
func (t Stream) empty() bool { return t.Index == 0 && !t.Closed }

func (p Progress) key() string { return p.Task }
func (p Progress) live() bool  { return false }

func (c Call) key() string { return c.ID }

// live reports whether a rewind must look at the call's progress.
func (c Call) live() bool { return !c.Model && !c.Ended && c.Progress != ToolProgress{} }

func (a Artifact) key() string { return a.Name }
func (a Artifact) live() bool  { return false }

func (i Input) key() string { return i.Request }
func (i Input) live() bool  { return !i.Closed }

func (c ChildState) key() string { return string(c.Child) }
func (c ChildState) live() bool  { return !c.Status.IsEnded() }

func (s StepState) key() string { return s.Name }
func (s StepState) live() bool  { return false }
