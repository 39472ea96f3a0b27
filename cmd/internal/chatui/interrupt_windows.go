package chatui

import "golang.org/x/sys/windows"

// interrupt sends all processes of the console the event that Ctrl-C sends.
func interrupt() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0) }
