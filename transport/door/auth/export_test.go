package auth

// Buckets is how many addresses the gate keeps a bucket for.
func (m *Middleware) Buckets() int {
	m.byAddr.mu.Lock()
	defer m.byAddr.mu.Unlock()
	return len(m.byAddr.byKey)
}

// Reload reads the file again.
func (t *Tokens) Reload() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reload()
}

// Digest is what NewToken returns beside a token.
var Digest = digestOf
