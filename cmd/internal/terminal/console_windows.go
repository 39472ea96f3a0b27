package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// EnableEscapes makes the consoles obey escape sequences for colors and for the cursor instead of printing them.
func EnableEscapes(consoles ...*os.File) {
	for _, f := range consoles {
		var mode uint32
		if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil {
			_ = windows.SetConsoleMode(windows.Handle(f.Fd()), mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}
