package gate

// Buckets is how many addresses the gate keeps a bucket for.
func (g *Gate) Buckets() int {
	g.byAddr.mu.Lock()
	defer g.byAddr.mu.Unlock()
	return len(g.byAddr.byKey)
}
