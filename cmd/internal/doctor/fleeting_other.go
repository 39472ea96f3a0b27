//go:build !linux

package doctor

// fleeting is not available on this system.
func fleeting(string) (yes, known bool) { return false, false }
