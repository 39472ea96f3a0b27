//go:build !linux

package surface_test

import "time"

var started = time.Now()

func clock() time.Duration { return time.Since(started) }
