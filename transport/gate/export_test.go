package gate

// Buckets is how many addresses the gate keeps a bucket for.
func (g *Gate) Buckets() int {
	g.byAddr.mu.Lock()
	defer g.byAddr.mu.Unlock()
	return len(g.byAddr.byKey)
}

// Defaults are the limits of a server where none is given.
func Defaults() Limits { return Limits{}.withDefaults() }
