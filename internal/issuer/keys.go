package issuer

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

const (
	keysLife   = time.Hour   // how long keys are used without asking for them again
	refetch    = time.Minute // the least time between two requests for keys
	fetchTime  = 10 * time.Second
	mostBytes  = 1 << 20 // of an answer of the issuer
	leastRSA   = 2048    // bits
	openID     = "/.well-known/openid-configuration"
	serverMeta = "/.well-known/oauth-authorization-server"
)

// keys are the public keys of an issuer. mu is held while they are fetched, and guards the fields below it.
type keys struct {
	issuer string
	client *http.Client
	known  atomic.Pointer[keySet]

	mu     sync.Mutex
	tried  time.Time // when they were last asked for
	failed error     // what came of it
}

// keySet are keys as of a time.
type keySet struct {
	Keys []webKey `json:"keys"`
	at   time.Time
}

// webKey is a public key as RFC 7517 writes it.
type webKey struct {
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	N         octets `json:"n"` // of RSA, with E
	E         octets `json:"e"`
	Curve     string `json:"crv"`
	X         octets `json:"x"` // of a curve, with Y but for Ed25519
	Y         octets `json:"y"`
	public    any    // nil if the key is of a kind that is not known here, or wrong
}

// octets are bytes as base64url without padding.
type octets []byte

func (o *octets) UnmarshalText(text []byte) (err error) {
	*o, err = base64.RawURLEncoding.DecodeString(string(text))
	return err
}

// curves are defined by RFC 7518, section 6.2.1.1.
var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

// read sets public.
func (k *webKey) read() {
	switch curve := curves[k.Curve]; {
	case k.Type == "RSA" && len(k.N) > 0 && len(k.E) > 0 && len(k.E) <= 4:
		k.public = &rsa.PublicKey{N: new(big.Int).SetBytes(k.N), E: int(new(big.Int).SetBytes(k.E).Int64())}
	case k.Type == "EC" && curve != nil:
		if point, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, k.X, k.Y)); err == nil {
			k.public = point
		}
	case k.Type == "OKP" && k.Curve == "Ed25519" && len(k.X) == ed25519.PublicKeySize:
		k.public = ed25519.PublicKey(k.X)
	}
}

func newKeys(issuer string) keys {
	client := dial.Named(dial.NewTransport())
	client.Timeout = fetchTime
	return keys{issuer: issuer, client: client}
}

// find returns the key with the id, or the only one if the token names none. For an unknown one it asks the issuer, at
// most once a minute. Keys that are known stay in use while the issuer does not answer.
func (k *keys) find(ctx context.Context, id string) (*webKey, error) {
	ctx = context.WithoutCancel(ctx)
	if set := k.known.Load(); set != nil && time.Since(set.at) < keysLife {
		if key, ok := set.pick(id); ok {
			if time.Since(set.at) > keysLife/2 && k.mu.TryLock() { // in time, so that nobody waits for it
				go func() {
					defer k.mu.Unlock()
					k.refresh(ctx)
				}()
			}
			return key, nil
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refresh(ctx)
	set := k.known.Load()
	if set == nil {
		return nil, &messages.Error{Code: messages.CodeUnavailable, Retryable: true,
			Message: fmt.Sprintf("the keys of the issuer %s cannot be had; try again: %v", k.issuer, k.failed)}
	}
	if key, ok := set.pick(id); ok {
		return key, nil
	}
	return nil, refused("the issuer has no such key")
}

// refresh asks for the keys, at most once a minute. mu must be held.
func (k *keys) refresh(ctx context.Context) {
	if now := time.Now(); k.tried.IsZero() || now.Sub(k.tried) >= refetch {
		k.tried = now
		k.failed = k.fetch(ctx, now)
	}
}

func (s *keySet) pick(id string) (*webKey, bool) {
	var found []*webKey
	for i := range s.Keys {
		if key := &s.Keys[i]; key.public != nil && (id == "" || key.ID == id) {
			found = append(found, key)
		}
	}
	if len(found) != 1 || found[0].Use != "" && found[0].Use != "sig" {
		return nil, false
	}
	return found[0], true
}

// fits reports whether a key can have made a signature with the algorithm. The key says it, and not the token.
func (k *webKey) fits(with string) bool {
	if k.Algorithm != "" && k.Algorithm != with {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= leastRSA && slices.Contains(ofRSA, with)
	case *ecdsa.PublicKey:
		return with == ofCurve[public.Params().BitSize]
	case ed25519.PublicKey:
		return with == ofEd25519
	}
	return false
}

// fetch asks the issuer where its keys are, and then for the keys.
func (k *keys) fetch(ctx context.Context, now time.Time) error {
	var about struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	u, err := url.Parse(k.issuer)
	if err != nil {
		return err
	}
	inserted := *u
	inserted.Path = serverMeta + strings.TrimSuffix(u.Path, "/")
	if err = k.get(ctx, strings.TrimSuffix(k.issuer, "/")+openID, &about); err != nil {
		err = k.get(ctx, inserted.String(), &about)
	}
	switch {
	case err != nil:
		return err
	case about.Issuer != k.issuer:
		return fmt.Errorf("its metadata is of %.100q", about.Issuer)
	case !secure(about.JWKSURI):
		return errors.New("its metadata names no jwks_uri of https")
	}
	set := &keySet{at: now}
	if err = k.get(ctx, about.JWKSURI, set); err == nil {
		for i := range set.Keys {
			set.Keys[i].read()
		}
		k.known.Store(set)
	}
	return err
}

// get reads a JSON document.
func (k *keys) get(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := k.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	return json.NewDecoder(io.LimitReader(answer.Body, mostBytes)).Decode(into)
}
