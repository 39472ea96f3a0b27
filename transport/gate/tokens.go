package gate

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

const (
	maxTokens     = 10_000
	maxTokenBytes = 4 << 20
	// recheck is how often the file is looked at, so the longest that a revoked token is good.
	recheck = time.Second
	// settled is how old a file's last change must be for its times to tell two changes apart.
	settled = 2 * time.Second
	// writing is how young a file's last change is where there may be more to come: whoever writes a file in place first
	// empties it.
	writing = 250 * time.Millisecond
)

// Tokens are the tokens of a file. A line of it is "name scopes digest", the scopes separated by commas; what
// follows a # is a comment. The file is read again when it has changed, looked at on request and at most once a
// second: a token is revoked by taking its line away. One that was written a moment ago is given another moment, once.
type Tokens struct {
	path  string
	start time.Time
	next  atomic.Int64 // when to look at the file again, since start
	known atomic.Pointer[[]entry]

	mu      sync.Mutex
	read    fs.FileInfo // of the file as last read
	readAt  time.Time
	waited  bool   // the last look found the file too young to be read
	trouble string // what was last said of a file that is no good
}

// LoadTokens reads the file of tokens. Errors (invalid_input): a file that cannot be read, that others than its owner
// may read, without any token, or with a line that is no good; (limit_exceeded) more than 10,000 tokens or 4 MiB.
func LoadTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path, start: time.Now()}
	entries, err := t.readFile()
	if err == nil && len(entries) == 0 {
		err = invalid("%s holds no token; without one nobody could call", path)
	}
	if err != nil {
		return nil, err
	}
	t.known.Store(&entries)
	t.next.Store(int64(recheck))
	return t, nil
}

// Reload reads the file again. After an error the tokens are as before. A file without any token is no error here: it
// revokes them all.
func (t *Tokens) Reload() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reload()
}

func (t *Tokens) reload() error {
	entries, err := t.readFile()
	if err == nil {
		t.known.Store(&entries)
	}
	return err
}

// find returns the token's entry. A SHA-256 without salt or stretching is right, as a token is 256 random bits:
// nobody can try them all, or make a table of them. Each digest is compared in constant time and all of them always,
// so that the time taken tells nothing of which are near.
func (t *Tokens) find(token string) (entry, bool) {
	if len(token) < minToken {
		return entry{}, false
	}
	return t.lookup(sha256.Sum256([]byte(token)))
}

func (t *Tokens) lookup(digest [sha256.Size]byte) (entry, bool) {
	entries := *t.known.Load()
	found := -1
	for i := range entries {
		at := subtle.ConstantTimeCompare(digest[:], entries[i].digest[:])
		found = subtle.ConstantTimeSelect(at, i, found)
	}
	if found < 0 {
		return entry{}, false
	}
	return entries[found], true
}

// refresh looks at the file if it is time to and nobody else does.
func (t *Tokens) refresh(log *slog.Logger) {
	if int64(time.Since(t.start)) >= t.next.Load() && t.mu.TryLock() {
		defer t.mu.Unlock()
		t.look(log)
	}
}

// refreshed is refresh for who asks seldom: where somebody else looks at the file, it waits for what comes of it.
func (t *Tokens) refreshed(log *slog.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look(log)
}

// look tells the log what came of it: of the same trouble only once. Under mu.
func (t *Tokens) look(log *slog.Logger) {
	now := int64(time.Since(t.start))
	if now < t.next.Load() {
		return
	}
	t.next.Store(now + int64(recheck))
	info, changed := t.changed()
	if !changed {
		return
	}
	if t.waited = !t.waited && young(info); t.waited {
		t.next.Store(now + int64(writing))
		return
	}
	before := t.trouble
	if err := t.reload(); err != nil {
		if t.trouble = err.Error(); t.trouble != before {
			log.Error("the changed file of tokens is no good; the tokens before it stay valid", "error", t.trouble)
		}
		return
	}
	t.trouble = ""
	log.Info("read the file of tokens", "path", t.path, "tokens", len(*t.known.Load()))
}

func (t *Tokens) changed() (info fs.FileInfo, changed bool) {
	info, err := os.Stat(t.path)
	return info, err != nil || !os.SameFile(info, t.read) || info.Size() != t.read.Size() ||
		!info.ModTime().Equal(t.read.ModTime()) || info.Mode() != t.read.Mode() ||
		t.readAt.Sub(info.ModTime()) < settled
}

// young reports whether the file, nil if there is none, was changed a moment ago.
func young(info fs.FileInfo) bool {
	if info == nil {
		return false
	}
	age := time.Since(info.ModTime())
	return age >= 0 && age < writing
}

// readFile opens the path as the operator wrote it, links included. What it checks is the opened file's.
func (t *Tokens) readFile() ([]entry, error) {
	if info, err := os.Stat(t.path); err == nil && !info.Mode().IsRegular() { // opening a pipe might wait for ever
		return nil, invalid("%s is not a file; name a file of tokens", t.path)
	}
	file, err := os.Open(t.path)
	if err != nil {
		return nil, invalid("the file of tokens cannot be opened: %v", err)
	}
	defer func() { _ = file.Close() }()
	readAt := time.Now()
	info, err := file.Stat()
	if err != nil {
		return nil, invalid("the file of tokens cannot be read: %v", err)
	}
	t.read, t.readAt = info, readAt
	if err := checkMode(t.path, info.Mode()); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxTokenBytes+1))
	if err != nil {
		return nil, invalid("the file of tokens cannot be read: %v", err)
	}
	return parseTokens(t.path, string(text))
}

// checkMode: on Windows a file's mode says nothing of who may read it.
func checkMode(path string, mode fs.FileMode) error {
	if runtime.GOOS == "windows" || mode.Perm()&0o077 == 0 {
		return nil
	}
	return invalid("%s may be read by others than its owner (mode %#o); run: chmod 600 %s", path, mode.Perm(), path)
}

func parseTokens(path, text string) ([]entry, error) {
	if len(text) > maxTokenBytes {
		return nil, exceeded("%s is larger than %d bytes", path, maxTokenBytes)
	}
	var entries []entry
	seen := map[[sha256.Size]byte]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		e, err := parseLine(line)
		if err != nil {
			return nil, invalid("%s:%d: %s", path, n, err)
		}
		if first := seen[e.digest]; first != 0 {
			return nil, invalid("%s:%d: the digest of line %d again; a token has one line", path, n, first)
		}
		seen[e.digest] = n
		if entries = append(entries, e); len(entries) > maxTokens {
			return nil, exceeded("%s holds more than %d tokens", path, maxTokens)
		}
	}
	return entries, nil
}

func invalid(format string, args ...any) *messages.Error {
	return messages.InvalidInput(format, args...)
}

func exceeded(format string, args ...any) *messages.Error {
	return messages.Errorf(messages.Code(messages.CauseLimitExceeded), format, args...)
}
