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
	return cmp.Or(v.absolute("XDG_CONFIG_HOME"), v.inHome(".config"))
}

// CacheFolder returns the folder in which lastword caches results, or "".
func (v Variables) CacheFolder() string {
	usual := ".cache"
	if runtime.GOOS == "darwin" {
		usual = "Library/Caches"
	}
	return v.own("XDG_CACHE_HOME", usual, "generate")
}

// StateFolder returns the folder in which lastword stores the runs of a server, or "". systemd can set it.
func (v Variables) StateFolder() string {
	if first, _, _ := strings.Cut(v.Get("STATE_DIRECTORY"), ":"); filepath.IsAbs(first) {
		return first
	}
	return v.own("XDG_STATE_HOME", ".local/state", "")
}

// TrustFolder returns the user's own folder for approvals and keys, or "".
func (v Variables) TrustFolder() string { return v.own("XDG_DATA_HOME", ".local/share", "trust") }

// own returns a folder of lastword's: below the folder that the variable names, or else below the usual one in the
// user's home, and on Windows below LocalAppData. It is "" if there is none.
func (v Variables) own(variable, usual, name string) string {
	dir := v.absolute(variable)
	if dir == "" && runtime.GOOS == "windows" {
		dir = v.Get("LocalAppData")
	} else if dir == "" {
		dir = v.inHome(usual)
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "lastword", name)
}

// absolute returns the variable if it is an absolute path, or "".
func (v Variables) absolute(variable string) string {
	if dir := v.Get(variable); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// inHome returns a path below the home directory, or "" if there is none.
func (v Variables) inHome(name string) string {
	home := v.Home()
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(name))
}
