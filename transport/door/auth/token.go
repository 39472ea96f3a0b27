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
	return token, Digest(token)
}

// Digest returns the token's SHA-256 in hexadecimal, as the token file has it.
func Digest(token string) string {
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

// entry is a line of the token file.
type entry struct {
	digest    [sha256.Size]byte
	principal Principal
}

// parseLine parses "name scopes digest". Its errors never repeat a whole field, because people paste tokens in the
// wrong place.
func parseLine(line string) (entry, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 || len(fields) > 3 && !strings.HasPrefix(fields[3], "#") {
		return entry{}, invalid("a line has a name, scopes and a digest, for example: mia run:read,run:write 5e88…")
	}
	return entryOf(fields)
}

// entryOf parses a name, scopes and a digest.
func entryOf(fields []string) (e entry, err error) {
	e.principal.Name = fields[0]
	wrong := func(r rune) bool { return notInName(r) && !strings.ContainsRune(".@+", r) }
	if fields[0] == "" || len(fields[0]) > 64 || strings.ContainsFunc(fields[0], wrong) {
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

// parseScopes parses the scopes of a token: a list with commas and without spaces.
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
