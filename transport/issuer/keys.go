package issuer

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/dial"
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
	jose.JSONWebKeySet
	at time.Time
}

func newKeys(issuer string) keys {
	client := dial.Named(dial.NewTransport())
	client.Timeout = fetchTime
	return keys{issuer: issuer, client: client}
}

// find returns the key with the id, or the only one if the token names none. For an unknown one it asks the issuer, at
// most once a minute. Keys that are known stay in use while the issuer does not answer.
func (k *keys) find(ctx context.Context, id string) (jose.JSONWebKey, error) {
	if set := k.known.Load(); set != nil && time.Since(set.at) < keysLife {
		if key, ok := set.pick(id); ok {
			return key, nil
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := time.Now(); k.tried.IsZero() || now.Sub(k.tried) >= refetch {
		k.tried = now
		k.failed = k.fetch(context.WithoutCancel(ctx), now)
	}
	set := k.known.Load()
	if set == nil {
		return jose.JSONWebKey{}, &messages.Error{Code: messages.CodeUnavailable, Retryable: true,
			Message: fmt.Sprintf("the keys of the issuer %s cannot be had; try again: %v", k.issuer, k.failed)}
	}
	if key, ok := set.pick(id); ok {
		return key, nil
	}
	return jose.JSONWebKey{}, refused("the issuer has no such key")
}

func (s *keySet) pick(id string) (jose.JSONWebKey, bool) {
	found := s.Keys
	if id != "" {
		found = s.Key(id)
	}
	if len(found) != 1 || found[0].Use != "" && found[0].Use != "sig" {
		return jose.JSONWebKey{}, false
	}
	return found[0], true
}

// fits reports whether a key can have made a signature with the algorithm. The key says it, and not the token.
func fits(key jose.JSONWebKey, with jose.SignatureAlgorithm) bool {
	if key.Algorithm != "" && key.Algorithm != string(with) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= leastRSA && slices.Contains(ofRSA, with)
	case *ecdsa.PublicKey:
		return with == ofCurve[public.Params().BitSize]
	case ed25519.PublicKey:
		return with == jose.EdDSA
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
	if err = k.get(ctx, about.JWKSURI, &set.JSONWebKeySet); err == nil {
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
