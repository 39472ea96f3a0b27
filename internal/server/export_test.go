package server

// Defaults are the limits of a server where none is given.
func Defaults() Limits { return Limits{}.withDefaults() }
