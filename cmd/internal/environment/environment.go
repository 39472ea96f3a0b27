package environment

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strings"
)

// Variables are entries NAME=value, as in os.Environ. If a name occurs twice, the last entry wins.
type Variables []string

// Get returns the value of a variable, or "" if it is not set.
func (v Variables) Get(name string) string {
	for i := len(v) - 1; i >= 0; i-- {
		if key, value, _ := strings.Cut(v[i], "="); key == name {
			return value
		}
	}
	return ""
}

// Home returns the user's home directory, or "".
func (v Variables) Home() string { return cmp.Or(v.Get("HOME"), v.Get("USERPROFILE")) }

// ConfigFolder returns the folder for the user's configuration, or "".
func (v Variables) ConfigFolder() string {
	if dir := v.Get("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return v.inHome(".config")
}

// CacheFolder returns the folder in which lastword caches results, or "".
func (v Variables) CacheFolder() string {
	dir := v.Get("XDG_CACHE_HOME")
	switch {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir = v.Get("LocalAppData")
	case runtime.GOOS == "darwin":
		dir = v.inHome("Library", "Caches")
	default:
		dir = v.inHome(".cache")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "lastword", "generate")
}

// StateFolder returns the folder in which lastword stores the runs of a server, or "". systemd can set it.
func (v Variables) StateFolder() string {
	dir := v.Get("XDG_STATE_HOME")
	switch first, _, _ := strings.Cut(v.Get("STATE_DIRECTORY"), ":"); {
	case filepath.IsAbs(first):
		return first
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir = v.Get("LocalAppData")
	default:
		dir = v.inHome(".local", "state")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "lastword")
}

// TrustFolder returns the user's own folder for approvals and keys, or "".
func (v Variables) TrustFolder() string {
	dir := v.Get("XDG_DATA_HOME")
	switch {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir = v.Get("LocalAppData")
	default:
		dir = v.inHome(".local", "share")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "lastword", "trust")
}

// inHome returns a path below the home directory, or "" if there is none.
func (v Variables) inHome(names ...string) string {
	home := v.Home()
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, names...)...)
}
