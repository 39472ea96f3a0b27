//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"os"
)

func Lock(*os.File) error { return errors.ErrUnsupported }

func Try(*os.File) error { return errors.ErrUnsupported }
