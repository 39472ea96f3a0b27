package issuer

// Later lets the issuer be asked for keys again, as after a minute.
func (i *Issuer) Later() { i.keys.tried = i.keys.tried.Add(-refetch) }

// Age makes the keys so old that they are asked for anew, and still used.
func (i *Issuer) Age() {
	i.Later()
	set := *i.keys.known.Load()
	set.at = set.at.Add(-keysLife/2 - 1)
	i.keys.known.Store(&set)
}

// Settle waits until nobody asks for keys.
func (i *Issuer) Settle() {
	i.keys.mu.Lock()
	defer i.keys.mu.Unlock()
}
