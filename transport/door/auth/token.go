package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	tokenPrefix = "lw_"
	// minToken is a token's minimum length. A plain SHA-256 protects only random secrets; 32 characters keep people
	// from using a password.
	minToken = 32
)

// NewToken returns a new token of 256 random bits, for its holder only, and its digest for the token file.
func NewToken() (token, digest string) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the process where there is no randomness
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, Digest(token)
}

// Digest returns the token's SHA-256 in hexadecimal, as in the token file.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Line returns the line of a token file, without its newline, that gives the digest's token the name and the scopes.
// A name is 1 to 64 of the characters A-Z a-z 0-9 . _ @ + -; several tokens may share one.
func Line(name string, scopes []Scope, digest string) (string, error) {
	fields := []string{name, joinScopes(scopes), digest}
	_, err := entryOf(fields)
	return strings.Join(fields, " "), err
}

func joinScopes(scopes []Scope) string {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

// entry is a line of the token file.
type entry struct {
	digest    [sha256.Size]byte
	principal Principal
}

// parseLine reads "name scopes digest". Errors never repeat a whole field: people paste tokens in the wrong place.
func parseLine(line string) (entry, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 || len(fields) > 3 && !strings.HasPrefix(fields[3], "#") {
		return entry{}, invalid("a line has a name, scopes and a digest, for example: mia run:read,run:write 5e88…")
	}
	return entryOf(fields)
}

// entryOf reads a name, scopes and a digest.
func entryOf(fields []string) (e entry, err error) {
	e.principal.Name = fields[0]
	if !isPrincipal(fields[0]) {
		return e, invalid("%.12q is not a name; use 1 to 64 of A-Z a-z 0-9 . _ @ + -", fields[0])
	}
	if e.principal.Scopes, err = parseScopes(fields[1]); err != nil {
		return e, err
	}
	digest, err := hex.DecodeString(fields[2])
	if err != nil || len(digest) != len(e.digest) {
		return e, invalid("the third field is the token's SHA-256 in 64 hexadecimal digits, never the token itself")
	}
	copy(e.digest[:], digest)
	return e, nil
}

func isPrincipal(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		if !isNameByte(name[i]) && !strings.Contains(".@+", name[i:i+1]) {
			return false
		}
	}
	return true
}

func parseScopes(text string) ([]Scope, error) {
	var scopes []Scope
	for name := range strings.SplitSeq(text, ",") {
		s := Scope(name)
		if s != ReadRuns && s != WriteRuns && s != Admin {
			return nil, invalid("%.12q is not a scope; the scopes are %s, %s and %s", name, ReadRuns, WriteRuns, Admin)
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}
