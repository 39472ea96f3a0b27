package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/tokenfile"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Finding returns the result of a check. remedy says what the user can do; "" means nothing.
func Finding(id string, status probe.Status, remedy, format string, args ...any) probe.Result {
	return probe.Result{ID: id, Status: status, Seen: fmt.Sprintf(format, args...), Remedy: remedy}
}

// Fine returns the result of a check that passed.
func Fine(id, format string, args ...any) probe.Result {
	return Finding(id, probe.Pass, "", format, args...)
}

// Tokens lists the secrets that are set, by name only.
func Tokens(env environment.Variables) probe.Result {
	var set []string
	for _, name := range settings.SecretVariables() {
		if env.Get(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return Fine("tokens", "none is set; public repositories and most servers on this machine need none")
	}
	return Fine("tokens", "set: %s", strings.Join(set, ", "))
}

// Confirming names the callers of the file of tokens who answer questions, but confirm nothing. "" is no file.
func Confirming(file string) probe.Result {
	const id = "confirm"
	if file == "" {
		return Finding(id, probe.Skip, "", "serve has no file of tokens in the settings")
	}
	lines, err := tokenfile.Lines(file)
	if err != nil {
		return Finding(id, probe.Warn, "correct serve.tokens", "%v", err)
	}
	var names []string
	for _, line := range lines {
		name, scopes, _, ok := tokenfile.Fields(line)
		has := func(s auth.Scope) bool { return slices.Contains(strings.Split(scopes, ","), string(s)) }
		if ok && has(auth.WriteRuns) && !has(auth.AnswerRuns) && !has(auth.Admin) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Fine(id, "each token that answers questions confirms, too")
	}
	return Finding(id, probe.Warn, "give programs that confirm a token with lastword token add --scope run:read,run:write,run:answer; people use the page",
		"tokens without the scope run:answer confirm nothing: %s", strings.Join(names, ", "))
}

// Output checks that generate can write into the folder.
func Output(folder string) probe.Result {
	const id = "output"
	dir := existing(folder)
	if err := tryWriting(dir); err != nil {
		return Finding(id, probe.Fail, "choose a folder that can be written, with --out", "%s: %v", folder,
			exit.Reason(err))
	}
	if dir != settings.Absolute(folder) {
		return Fine(id, "%s will be made; files appear there whole", folder)
	}
	return Fine(id, "%s can be written; files appear there whole", folder)
}

// existing returns the folder, or the nearest existing folder above it.
func existing(folder string) string {
	for at := settings.Absolute(folder); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return at
		}
	}
}

// tryWriting makes a file in the folder, renames it and removes it, as commands do that replace files.
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
	diskLeast    = 64 << 20 // bytes free; less is a failure
	diskSensible = 1 << 30  // bytes free; less is a warning
)

// Disk checks the free space where the folder is or will be.
func Disk(folder string) probe.Result { return room(freeSpace(existing(folder))) }

// room judges the free space, in bytes. known is false if the system does not tell.
func room(free int64, known bool) probe.Result {
	const id, remedy = "disk", "make room, or choose another folder with --out"
	seen := words.Thousands(free/1e6) + " MB free"
	switch {
	case !known:
		return Fine(id, "this system does not report free space")
	case free < diskLeast:
		return Finding(id, probe.Fail, remedy, "%s", seen)
	case free < diskSensible:
		return Finding(id, probe.Warn, remedy, "%s", seen)
	}
	return Fine(id, "%s", seen)
}

// Cache checks that the folder for the cache of results can be written. Commands also work without it.
func Cache(folder string) probe.Result {
	const id, remedy = "cache", "results are not kept; give XDG_CACHE_HOME a folder that can be written, or --no-cache"
	if folder == "" {
		return Finding(id, probe.Warn, remedy, "the system has no place for it")
	}
	if err := tryWriting(existing(folder)); err != nil {
		return Finding(id, probe.Warn, remedy, "%s: %v", folder, exit.Reason(err))
	}
	return Fine(id, "%s", folder)
}

// Shown describes how a run would be displayed.
func Shown(how *terminal.Options, stderr io.Writer) probe.Result {
	if !terminal.IsTerminal(stderr) {
		return Fine("terminal", "none; a run is shown line by line")
	}
	words := []string{"in place"}
	if !how.InPlace(stderr, false) {
		words = []string{"line by line"}
	}
	if how.Colored(true) {
		words = append(words, "in colour")
	}
	if how.ASCIIOnly() {
		words = append(words, "in ASCII, as LC_ALL, LC_CTYPE or LANG have it")
	}
	return Fine("terminal", "a run is shown %s", strings.Join(words, ", "))
}

// Roots checks the certificates that https needs.
func Roots() probe.Result {
	pool, err := x509.SystemCertPool()
	if err != nil || pool.Equal(x509.NewCertPool()) {
		return Finding("tls", probe.Warn, "install the system's certificates (ca-certificates), or set SSL_CERT_FILE",
			"no certificates are there, so that no https works")
	}
	return Fine("tls", "the system's certificates are there")
}

// Proxy says whether requests to the server use a proxy, without the proxy's password.
func Proxy(endpoint *settings.Endpoint) probe.Result {
	const id, remedy = "proxy", "correct HTTP_PROXY or HTTPS_PROXY, or give --proxy"
	if endpoint.Proxy == "none" {
		return Fine(id, "none")
	}
	if endpoint.Proxy != "" {
		return Fine(id, "--proxy is set")
	}
	for _, address := range []string{endpoint.URL(), "https://github.com/"} {
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			continue
		}
		switch u, err := http.ProxyFromEnvironment(r); {
		case err != nil:
			return Finding(id, probe.Warn, remedy, "the environment's cannot be used")
		case u != nil:
			return Fine(id, "the environment's, %s, for %s", u.Host, r.URL.Host)
		}
	}
	return Fine(id, "none")
}

// Clock compares the server's clock with this machine's, with the precision of seconds.
func Clock(page *llm.Page) probe.Result { return clock("clock", page.Header, page.Came) }

// clock judges the Date field of a response that arrived at the time came.
func clock(id string, header http.Header, came time.Time) probe.Result {
	const most = time.Minute
	date, err := time.Parse(time.RFC1123, header.Get("Date"))
	if err != nil {
		return Fine(id, "the server does not tell the time")
	}
	switch off := came.Sub(date).Round(time.Second); {
	case off.Abs() > most:
		return Finding(id, probe.Warn, "set the clock, here or there: keys and certificates may seem to be out of date",
			"it differs by %s from the server's", off.Abs())
	case off.Abs() > time.Second:
		return Fine(id, "it differs by %s from the server's", off.Abs())
	}
	return Fine(id, "it is the server's")
}

// mostToCheck is the largest size, in bytes, of a database that doctor checks. That takes one or two seconds.
const mostToCheck = 1e9

// State checks the folder where serve keeps runs: that it can be written, and that its database is sound.
func State(ctx context.Context, folder string) probe.Result {
	const id, elsewhere = "state", "serve cannot keep runs there; give it --state FOLDER, or --ephemeral"
	if folder == "" {
		return Finding(id, probe.Warn, elsewhere, "the system has no place for it")
	}
	if err := tryWriting(existing(folder)); err != nil {
		return Finding(id, probe.Warn, elsewhere, "%s: %v", folder, exit.Reason(err))
	}
	size, err := sizeOf(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return Fine(id, "%s will be made; serve keeps runs there", folder)
	}
	if err != nil {
		return Finding(id, probe.Warn, elsewhere, "%s: %v", folder, exit.Reason(err))
	}
	seen := fmt.Sprintf("%s: %s, %s", folder, words.Size(size), ownerOf(folder))
	if size > mostToCheck {
		return Fine(id, "%s; not checked: larger than %s, lastword verify --all reads it", seen, words.Size(mostToCheck))
	}
	report, err := store.CheckDatabase(ctx, folder)
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound:
		return Fine(id, "%s; no runs yet", seen)
	case err != nil:
		return Finding(id, probe.Fail, "correct it, or give serve another folder with --state", "%s; %v", seen, err)
	case len(report.Faults) > 0:
		return Finding(id, probe.Fail, "lastword verify --all lists the damaged runs; restore a backup",
			"%s; its database is damaged: %s", seen, words.Clip(report.Faults[0].Says, 200))
	}
	return Fine(id, "%s; its database is sound", seen)
}

// Trust says where approvals and keys are, and whether they outlive a restart.
func Trust(at trust.Folder, err error) probe.Result {
	const id, elsewhere = "trust", "give a folder of your own with --trust, or with " + settings.Trust
	if errors.Is(err, trust.ErrNowhere) {
		return Finding(id, probe.Warn, elsewhere, "the system has no place for it")
	}
	if err != nil {
		return Finding(id, probe.Fail, elsewhere, "%v", err)
	}
	folder := string(at)
	if err := tryWriting(existing(folder)); err != nil {
		return Finding(id, probe.Warn, elsewhere, "%s: %v", folder, exit.Reason(err))
	}
	switch fleeting, known := fleeting(existing(folder)); {
	case fleeting:
		return Finding(id, probe.Warn, elsewhere+" on a disk that stays", "%s: approvals and keys do not outlive a restart of the machine or container", folder)
	case !known:
		return Fine(id, "%s; this system does not say whether the folder survives a restart", folder)
	}
	return Fine(id, "%s; it outlives a restart", folder)
}

// ownerOf says which process has the folder open.
func ownerOf(folder string) string {
	owner, open := store.FindOwner(folder)
	if !open {
		return "nobody has it open"
	}
	text := fmt.Sprintf("process %d on %s has it open since %s", owner.PID, owner.Host, owner.Since.Format(time.RFC3339))
	if owner.URL != "" {
		text += " and answers at " + owner.URL
	}
	return text
}

// sizeOf returns the size of the files directly in a folder.
func sizeOf(folder string) (bytes int64, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes, err
}
