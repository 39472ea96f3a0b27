package main

import (
	"cmp"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

func version() probe.Result {
	b := host.ThisBuild()
	return fine("version", "lastword %s, %s %s", b.Full(), b.Go, b.Platform)
}

// machine checks this machine.
func (e *doctorOptions) machine(cmd *cobra.Command) []probe.Result {
	return []probe.Result{e.tokensSet(), output(e.out), disk(e.out), cache(e.program.Env.CacheFolder()),
		state(cmd.Context(), cmp.Or(e.state, e.program.Env.StateFolder())), shown(&e.program.Display, cmd), roots(), e.proxy()}
}

// tokensSet names the secrets that are set.
func (e *doctorOptions) tokensSet() probe.Result {
	var set []string
	for _, name := range settings.SecretVariables() {
		if e.program.Env.Get(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return fine("tokens", "none is set; public repositories and most servers on this machine need none")
	}
	return fine("tokens", "set: %s", strings.Join(set, ", "))
}

// output checks that generate can write into the folder.
func output(folder string) probe.Result {
	const id = "output"
	at := existing(folder)
	if err := tryWriting(at); err != nil {
		return finding(id, probe.Fail, "choose a folder that can be written, with --out", "%s: %v", folder,
			exit.Reason(err))
	}
	if at != settings.Absolute(folder) {
		return fine(id, "%s will be made; files appear there whole", folder)
	}
	return fine(id, "%s can be written; files appear there whole", folder)
}

// existing is the folder, or the nearest existing one above it.
func existing(folder string) string {
	for at := settings.Absolute(folder); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return at
		}
	}
}

// tryWriting makes a file in the folder, renames it and removes it.
func tryWriting(folder string) error {
	f, err := os.CreateTemp(folder, ".lastword-doctor-*")
	if err != nil {
		return err
	}
	name := f.Name()
	_, err = f.WriteString("may be deleted\n")
	err = errors.Join(err, f.Close())
	if err == nil {
		if err = os.Rename(name, name+".renamed"); err == nil {
			name += ".renamed"
		}
	}
	return errors.Join(err, os.Remove(name))
}

const (
	diskLeast    = 64 << 20
	diskSensible = 1 << 30
)

func disk(folder string) probe.Result { return room(freeSpace(existing(folder))) }

func room(free int64, known bool) probe.Result {
	const id, remedy = "disk", "make room, or choose another folder with --out"
	seen := terminal.Thousands(free/1e6) + " MB free"
	switch {
	case !known:
		return fine(id, "free space cannot be told here")
	case free < diskLeast:
		return finding(id, probe.Fail, remedy, "%s", seen)
	case free < diskSensible:
		return finding(id, probe.Warn, remedy, "%s", seen)
	}
	return fine(id, "%s", seen)
}

func cache(folder string) probe.Result {
	const id, remedy = "cache", "results are not kept; give XDG_CACHE_HOME a folder that can be written, or --no-cache"
	if folder == "" {
		return finding(id, probe.Warn, remedy, "the system has no place for it")
	}
	if err := tryWriting(existing(folder)); err != nil {
		return finding(id, probe.Warn, remedy, "%s: %v", folder, exit.Reason(err))
	}
	return fine(id, "%s", folder)
}

// shown describes how a run would be displayed.
func shown(how *terminal.Options, cmd *cobra.Command) probe.Result {
	if !terminal.IsTerminal(cmd.ErrOrStderr()) {
		return fine("terminal", "none; a run is shown line by line")
	}
	words := []string{"in place"}
	if !how.InPlace(false) {
		words = []string{"line by line"}
	}
	if how.Colored(true) {
		words = append(words, "in colour")
	}
	if how.ASCIIOnly() {
		words = append(words, "in ASCII, as LC_ALL, LC_CTYPE or LANG have it")
	}
	return fine("terminal", "a run is shown %s", strings.Join(words, ", "))
}

func roots() probe.Result {
	pool, err := x509.SystemCertPool()
	if err != nil || pool.Equal(x509.NewCertPool()) {
		return finding("tls", probe.Warn, "install the system's certificates (ca-certificates), or set SSL_CERT_FILE",
			"no certificates are there, so that no https works")
	}
	return fine("tls", "the system's certificates are there")
}

// proxy says whether requests to the server use a proxy, without the proxy's password.
func (e *doctorOptions) proxy() probe.Result {
	const id, remedy = "proxy", "correct HTTP_PROXY or HTTPS_PROXY, or give --proxy"
	if e.at.Proxy == "none" {
		return fine(id, "none")
	}
	if e.at.Proxy != "" {
		return fine(id, "that of --proxy")
	}
	for _, address := range []string{e.at.URL(), "https://github.com/"} {
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			continue
		}
		switch u, err := http.ProxyFromEnvironment(r); {
		case err != nil:
			return finding(id, probe.Warn, remedy, "the environment's cannot be used")
		case u != nil:
			return fine(id, "the environment's, %s, for %s", u.Host, r.URL.Host)
		}
	}
	return fine(id, "none")
}
