package supervision

import "slices"

// entry is a child of a supervisor, from its first start until it will not be started again.
type entry struct {
	spec    ChildSpec
	up      bool // it has an incarnation whose Exit has not come
	drain   bool // that incarnation must end before anything is started
	removed bool // by StopChild
	gone    bool // no longer in the table
}

// table keeps the entries in start order.
type table struct {
	entries []*entry
	byName  map[string]*entry
	gone    int
}

func (t *table) add(spec ChildSpec) *entry {
	e := &entry{spec: spec}
	t.entries = append(t.entries, e)
	if t.byName == nil {
		t.byName = map[string]*entry{}
	}
	t.byName[spec.Name] = e
	return e
}

// forget takes the entry out. Entries in the midst of the order are left as gone, until they are the half of it.
func (t *table) forget(e *entry) {
	if e.gone {
		return
	}
	e.gone = true
	t.gone++
	delete(t.byName, e.spec.Name)
	for n := len(t.entries); n > 0 && t.entries[n-1].gone; n-- {
		t.entries[n-1] = nil
		t.entries = t.entries[:n-1]
		t.gone--
	}
	if t.gone > len(t.entries)/2 {
		t.entries = slices.DeleteFunc(t.entries, func(e *entry) bool { return e.gone })
		t.gone = 0
	}
}

// after marks what came after the entry for draining; all also what came before it.
func (t *table) after(from *entry, all bool) {
	for _, e := range t.entries {
		e.drain = e.drain || e.up && all
		all = all || e == from
	}
}

// lastDraining returns the last entry, in start order, that must come down.
func (t *table) lastDraining() *entry {
	for _, e := range slices.Backward(t.entries) {
		if e.up && e.drain {
			return e
		}
	}
	return nil
}

// firstDown returns the first entry that must be started.
func (t *table) firstDown() *entry {
	for _, e := range t.entries {
		if !e.up && !e.gone {
			return e
		}
	}
	return nil
}

// leave marks everything for draining.
func (t *table) leave() {
	for _, e := range t.entries {
		e.drain = e.up
	}
}
