package auth

// Buckets is how many addresses the gate keeps a bucket for.
func (m *Middleware) Buckets() int {
	m.byAddr.mu.Lock()
	defer m.byAddr.mu.Unlock()
	return len(m.byAddr.byKey)
}

// Defaults are the limits of a server where none is given.
func Defaults() Limits { return Limits{}.withDefaults() }
