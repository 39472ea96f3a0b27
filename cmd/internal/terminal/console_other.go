//go:build !windows

package terminal

import "os"

// EnableEscapes does nothing: terminals obey escape sequences.
func EnableEscapes(...*os.File) {}
