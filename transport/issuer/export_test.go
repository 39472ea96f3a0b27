package issuer

// Later lets the issuer be asked for keys again, as after a minute.
func (i *Issuer) Later() { i.keys.tried = i.keys.tried.Add(-refetch) }
