package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

const (
	maxTokens     = 10_000  // number of lines with tokens
	maxTokenBytes = 4 << 20 // size of the file
	// recheckInterval is the minimum time between two checks of the file for changes.
	recheckInterval = time.Second
	// settled is how old a file must be for its modification time to tell two changes apart.
	settled = 2 * time.Second
	// writing is how long after a change the file may be incomplete: programs that write in place truncate the file
	// first.
	writing = 250 * time.Millisecond
)

// Tokens are the tokens of a file, which has lines of the form "name scopes digest" with commas between the scopes; "#"
// begins a comment. To revoke a token, remove its line. Requests check the file for changes, at most once a second. A
// file that changed just now is read a moment later. Tokens is safe for concurrent use; mu guards the fields below it.
type Tokens struct {
	path  string
	start time.Time
	next  atomic.Int64            // when to check the file again, as time since start
	known atomic.Pointer[[]entry] // the tokens as of the last read; requests read it without the lock

	mu        sync.Mutex
	read      fs.FileInfo // the file as of the last read
	readAt    time.Time   // when the file was last read
	waited    bool        // the last check found the file too new to be read
	lastError string      // the last error that was logged
}

// LoadTokens reads a token file. Errors: invalid_input if the file cannot be read, is readable by others than its
// owner and its group, holds no token, or has an invalid line; limit_exceeded for more than 10,000 tokens or 4 MiB.
func LoadTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path, start: time.Now()}
	entries, err := t.readFile()
	if err == nil && len(entries) == 0 {
		err = messages.InvalidInput("%[1]s holds no token; add one with lastword token add --file %[1]s NAME", path)
	}
	if err != nil {
		return nil, err
	}
	t.known.Store(&entries)
	t.next.Store(int64(recheckInterval))
	return t, nil
}

// noTokens returns the tokens of no file.
func noTokens() *Tokens {
	t := &Tokens{start: time.Now()}
	t.known.Store(new([]entry))
	t.next.Store(math.MaxInt64)
	return t
}

// reload reads the file again. After an error the tokens stay unchanged. A file without tokens is allowed here: it
// revokes all.
func (t *Tokens) reload() error {
	entries, err := t.readFile()
	if err == nil {
		t.known.Store(&entries)
	}
	return err
}

// lookup compares all digests in constant time, so that the time tells nothing about the tokens.
func (t *Tokens) lookup(digest [sha256.Size]byte) (entry, bool) {
	entries := *t.known.Load()
	found := -1
	for i := range entries {
		pos := subtle.ConstantTimeCompare(digest[:], entries[i].digest[:])
		found = subtle.ConstantTimeSelect(pos, i, found)
	}
	if found < 0 {
		return entry{}, false
	}
	return entries[found], true
}

// refresh reads the file if it has changed and a check is due. It logs the result, but repeats no error. With wait, it
// waits for a check that another request is doing.
func (t *Tokens) refresh(log *slog.Logger, wait bool) {
	now := int64(time.Since(t.start))
	if wait {
		t.mu.Lock()
	} else if now < t.next.Load() || !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	if now < t.next.Load() {
		return
	}
	t.next.Store(now + int64(recheckInterval))
	info, changed := t.changed()
	if !changed {
		return
	}
	age := writing
	if info != nil { // there is a file
		age = time.Since(info.ModTime())
	}
	if t.waited = !t.waited && age >= 0 && age < writing; t.waited {
		t.next.Store(now + int64(writing))
		return
	}
	before := t.lastError
	if err := t.reload(); err != nil {
		if t.lastError = err.Error(); t.lastError != before {
			log.Error("the changed token file is not valid; the previous tokens stay in use", "error", t.lastError)
		}
		return
	}
	t.lastError = ""
	log.Info("read the token file", "path", t.path, "tokens", len(*t.known.Load()))
}

// changed reports whether the file differs from what was read, or may differ without a newer modification time.
func (t *Tokens) changed() (info fs.FileInfo, changed bool) {
	info, err := os.Stat(t.path)
	return info, err != nil || !os.SameFile(info, t.read) || info.Size() != t.read.Size() ||
		!info.ModTime().Equal(t.read.ModTime()) || info.Mode() != t.read.Mode() || t.readAt.Sub(info.ModTime()) < settled
}

// readFile reads and parses the file. It follows symbolic links, and checks the opened file.
func (t *Tokens) readFile() ([]entry, error) {
	file, info, err := regular.Open(t.path)
	if err != nil {
		return nil, messages.InvalidInput("the token file cannot be opened: %v", err)
	}
	defer func() { _ = file.Close() }()
	t.read, t.readAt = info, time.Now()
	if err := CheckMode(t.path, info.Mode()); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxTokenBytes+1))
	if err != nil {
		return nil, messages.InvalidInput("the token file cannot be read: %v", err)
	}
	return parseTokens(t.path, string(text))
}

// CheckMode returns an error if others than the owner can write the file, or others than its group can read it: a mounted
// secret belongs to root, and the server reads it as one of its group. On Windows modes do not tell, so it checks nothing.
func CheckMode(path string, mode fs.FileMode) error {
	if runtime.GOOS == "windows" || mode.Perm()&0o037 == 0 {
		return nil
	}
	return messages.InvalidInput("others than the owner and the group of %s can read or change it (mode %#o); run: chmod 600 %[1]s", path, mode.Perm())
}

// parseTokens parses a token file. An error names the file and line, but never the digest.
func parseTokens(path, text string) ([]entry, error) {
	if len(text) > maxTokenBytes {
		return nil, messages.LimitExceeded("%s is larger than %d bytes", path, maxTokenBytes)
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
			return nil, messages.InvalidInput("%s:%d: %s", path, n, err)
		}
		if first := seen[e.digest]; first != 0 {
			return nil, messages.InvalidInput("%s:%d: repeats the digest of line %d; give each token one line", path, n, first)
		}
		seen[e.digest] = n
		if entries = append(entries, e); len(entries) > maxTokens {
			return nil, messages.LimitExceeded("%s holds more than %d tokens", path, maxTokens)
		}
	}
	return entries, nil
}

const (
	tokenPrefix = "lw_" // marks tokens, so that they are found where they must not be
	// minToken is the minimum length of a token in characters. It keeps people from using passwords, which a plain
	// SHA-256 would not protect.
	minToken = 32
)

// NewToken returns a new token with 256 random bits, and its digest for the token file. Only the caller may see the
// token.
func NewToken() (token, digest string) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: the process ends if there is no randomness
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, digestOf(token)
}

// digestOf returns the token's SHA-256 in hexadecimal, as the token file has it.
func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Line returns a line of a token file, without the newline. A name has 1 to 64 of the characters A-Z a-z 0-9 . _ @ + -;
// several tokens may share a name. Errors: invalid_input.
func Line(name string, scopes []Scope, digest string) (string, error) {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	fields := []string{name, strings.Join(names, ","), digest}
	_, err := entryOf(fields)
	return strings.Join(fields, " "), err
}

// entry is a line of the token file, or a token of an issuer.
type entry struct {
	digest    [sha256.Size]byte
	principal Principal
	until     time.Time // when the token of an issuer ends; zero for others
}

// parseLine parses "name scopes digest". Its errors never repeat a whole field, because people paste tokens in the
// wrong place.
func parseLine(line string) (entry, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 || len(fields) > 3 && !strings.HasPrefix(fields[3], "#") {
		return entry{}, messages.InvalidInput("a line has a name, scopes and a digest, for example: mia run:read,run:write 5e88…")
	}
	return entryOf(fields)
}

// entryOf parses a name, scopes and a digest.
func entryOf(fields []string) (e entry, err error) {
	e.principal.Name = fields[0]
	if !IsPrincipal(fields[0]) {
		return e, messages.InvalidInput("%.12q is not a name; use 1 to 64 of A-Z a-z 0-9 . _ @ + -", fields[0])
	}
	if e.principal.Scopes, err = parseScopes(fields[1]); err != nil {
		return e, err
	}
	digest, err := hex.DecodeString(fields[2])
	if err != nil || len(digest) != len(e.digest) {
		return e, messages.InvalidInput("the third field is the token's SHA-256 in 64 hexadecimal digits, never the token itself")
	}
	copy(e.digest[:], digest)
	return e, nil
}

// IsPrincipal reports whether a caller may have the name.
func IsPrincipal(name string) bool {
	wrong := func(r rune) bool { return notInName(r) && !strings.ContainsRune(".@+", r) }
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, wrong)
}

// parseScopes parses the scopes of a token: a list with commas and without spaces.
func parseScopes(text string) ([]Scope, error) {
	var scopes []Scope
	for name := range strings.SplitSeq(text, ",") {
		s := Scope(name)
		if !slices.Contains(Scopes(), s) {
			return nil, messages.InvalidInput("%.12q is not a scope; the scopes are %s", name, strings.Trim(fmt.Sprint(Scopes()), "[]"))
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}
