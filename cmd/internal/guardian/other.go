//go:build !linux

package guardian

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
)

// Guardian does not exist on this system.
type Guardian struct{}

// Process does not exist on this system.
type Process struct{}

// New returns nil: this system lets no process adopt what its children leave behind.
func New(context.Context, string, func()) (*Guardian, error) { return nil, nil }

// Start is never called.
func (*Guardian) Start(*exec.Cmd, Options) (*Process, error) { return nil, errors.ErrUnsupported }

// Beat does nothing.
func (*Guardian) Beat() {}

// Close does nothing.
func (*Guardian) Close() {}

// Wait is never called.
func (*Process) Wait() (status syscall.WaitStatus) { return status }

// End is never called.
func (*Process) End() []int { return nil }

// Terminate is never called.
func (*Process) Terminate() {}

// Kill is never called.
func (*Process) Kill() {}
