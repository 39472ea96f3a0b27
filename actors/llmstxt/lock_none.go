//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package llmstxt

import (
	"errors"
	"os"
)

func lock(*os.File) error { return errors.ErrUnsupported }

func tryLock(*os.File) error { return errors.ErrUnsupported }
