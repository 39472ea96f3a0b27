package issuer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	longest = 24 * time.Hour // the longest life of a token
	leeway  = time.Minute    // how much the issuer's clock may be ahead
)

// Config says whose tokens are taken. Issuer and Audience are required.
type Config struct {
	// Issuer is the URL of the authorization server, as its tokens name it; Audience is how they name this server.
	Issuer, Audience string
	// Scopes maps scopes of the issuer to scopes of this server, as NAME=SCOPE. Without a mapping only run:read and
	// run:write mean what they say.
	Scopes []string
}

// Issuer checks tokens. It is safe for concurrent use.
type Issuer struct {
	config Config
	scopes map[string]auth.Scope
	keys   keys
}

// New returns an Issuer. It contacts nobody yet. Errors: invalid_input.
func New(c Config) (*Issuer, error) {
	if !secure(c.Issuer) || strings.ContainsAny(c.Issuer, "?#") {
		return nil, messages.InvalidInput("%.100q is not the URL of an issuer; write https://… as its tokens have it in iss", c.Issuer)
	}
	if c.Audience == "" {
		return nil, messages.InvalidInput("tokens of an issuer need an audience; name how they call this server in aud")
	}
	i := &Issuer{config: c, keys: newKeys(c.Issuer),
		scopes: map[string]auth.Scope{string(auth.ReadRuns): auth.ReadRuns, string(auth.WriteRuns): auth.WriteRuns}}
	for _, mapping := range c.Scopes {
		pos := strings.LastIndexByte(mapping, '=')
		if pos < 1 || !slices.Contains(auth.Scopes(), auth.Scope(mapping[pos+1:])) {
			return nil, messages.InvalidInput("%.100q maps no scope; write NAME=SCOPE, with one of %v", mapping, auth.Scopes())
		}
		i.scopes[mapping[:pos]] = auth.Scope(mapping[pos+1:])
	}
	return i, nil
}

// secure reports whether the URL is one of https, or of this machine.
func secure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	addr, _ := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (addr.IsLoopback() || u.Hostname() == "localhost")
}

// Algorithms by their keys: of curves by their bits. The keys of asymmetric ones verify and cannot sign.
var (
	ofRSA   = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	ofCurve = map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}
	reader  = jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation(), jwt.WithValidMethods(slices.AppendSeq(append(slices.Clone(ofRSA), ofEd25519), maps.Values(ofCurve))))
)

const ofEd25519 = "EdDSA"

// claims are those that count of a token.
type claims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// Check returns the caller that the token names, and when the token ends. Errors: unauthorized, and unavailable if the
// issuer's keys cannot be had.
func (i *Issuer) Check(ctx context.Context, token string) (auth.Principal, time.Time, error) {
	var c claims
	var about error // why there is no key to check it with
	_, err := reader.ParseWithClaims(token, &c, func(t *jwt.Token) (key any, _ error) {
		key, about = i.keyOf(ctx, t)
		return key, about
	})
	switch {
	case about != nil:
		return auth.Principal{}, time.Time{}, about
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return auth.Principal{}, time.Time{}, refused("no key of the issuer made its signature")
	case err != nil:
		return auth.Principal{}, time.Time{}, refused("it is no JWT that is signed with an asymmetric key")
	}
	ends, why := i.judge(c)
	if why != "" {
		return auth.Principal{}, time.Time{}, refused(why)
	}
	return auth.Principal{Name: nameOf(c.Subject), Scopes: i.scopesOf(c.Scope)}, ends, nil
}

// keyOf returns the key that must have signed a token with this header.
func (i *Issuer) keyOf(ctx context.Context, t *jwt.Token) (any, error) {
	kind, _ := t.Header["typ"].(string)
	if kind = strings.ToLower(kind); strings.TrimPrefix(kind, "application/") != "at+jwt" {
		return nil, refused("its typ is not at+jwt, so it is no access token (RFC 9068)")
	}
	if t.Header["crit"] != nil { // RFC 7515, section 4.1.11: who does not know what it names refuses it
		return nil, refused("it has a crit header")
	}
	id, _ := t.Header["kid"].(string)
	key, err := i.keys.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if !key.fits(t.Method.Alg()) {
		return nil, refused("no key of the issuer made its signature")
	}
	return key.public, nil
}

func refused(why string) error {
	return messages.Errorf(auth.CodeUnauthorized, "the token is refused: %s; ask the issuer for another", why)
}

// judge returns when a token ends, or why it is not valid for this server now.
func (i *Issuer) judge(c claims) (ends time.Time, why string) {
	now := time.Now()
	switch {
	case c.Issuer != i.config.Issuer:
		return ends, "its iss is not " + i.config.Issuer
	case !slices.Contains(c.Audience, i.config.Audience):
		return ends, "its aud does not name " + i.config.Audience
	case c.ExpiresAt == nil || c.IssuedAt == nil || c.Subject == "":
		return ends, "it has no exp, iat or sub"
	}
	ends = c.ExpiresAt.Time
	switch {
	case !now.Before(ends):
		return ends, "it has expired"
	case ends.Sub(c.IssuedAt.Time) > longest || ends.Sub(now) > longest+leeway:
		return ends, "it is valid for more than 24 hours"
	case now.Add(leeway).Before(c.IssuedAt.Time), c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time):
		return ends, "it is not valid yet"
	}
	return ends, ""
}

// scopesOf returns what the scopes of the issuer mean here.
func (i *Issuer) scopesOf(list string) []auth.Scope {
	scopes := []auth.Scope{}
	for name := range strings.FieldsSeq(list) {
		if own, ok := i.scopes[name]; ok && !slices.Contains(scopes, own) {
			scopes = append(scopes, own)
		}
	}
	return scopes
}

// digestPrefix begins the names of callers whose sub cannot be a name here.
const digestPrefix = "sub-"

// nameOf returns the caller's name: the sub, or else a digest of it.
func nameOf(sub string) string {
	if auth.IsPrincipal(sub) && !strings.HasPrefix(sub, digestPrefix) {
		return sub
	}
	sum := sha256.Sum256([]byte(sub))
	return digestPrefix + hex.EncodeToString(sum[:16])
}
