//go:build !linux

package source_test

import "time"

var started = time.Now()

func clock() time.Duration { return time.Since(started) }
