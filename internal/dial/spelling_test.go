package dial_test

import (
	"errors"
	"iter"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// spellings returns what the zero Policy says of each URL, and what the one says that allows everything; it says nothing of a
// URL that it allows. TestKindOf has the other blocks of addresses.
func spellings(t testing.TB) iter.Seq[[3]string] {
	return func(yield func([3]string) bool) {
		for _, group := range fatal.Table[map[string][][3]string](t, "testdata/spellings.json") {
			for _, s := range group {
				if !yield(s) {
					return
				}
			}
		}
	}
}

func TestSpellings(t *testing.T) {
	open := dial.Policy{HTTP: true, Private: true, SSH: true, File: true}
	for s := range spellings(t) {
		judge(t, dial.Policy{}, s[0], s[1])
		judge(t, open, s[0], s[2])
	}
}

func judge(t *testing.T, p dial.Policy, text, want string) {
	t.Helper()
	_, err := p.Parse(text)
	switch {
	case want == "" && err != nil:
		t.Errorf("%q with %+v: %v", text, p, err)
	case want == "":
	case err == nil:
		t.Errorf("%q with %+v is allowed, want %q", text, p, want)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%q with %+v: %v, want %q", text, p, err, want)
	case !errors.Is(err, &messages.Error{Code: "invalid_input"}):
		t.Errorf("%q: the error's code is %q", text, messages.CodeOf(err))
	case strings.Contains(err.Error(), "hunter2"):
		t.Errorf("%q: the error repeats a credential: %v", text, err)
	}
}

// The edges of every block, from the registries of special-purpose addresses.
func TestKindOf(t *testing.T) {
	for _, c := range fatal.Table[[][3]string](t, "testdata/kinds.json") {
		kind, first, last := c[0], netip.MustParseAddr(c[1]), netip.MustParseAddr(c[2])
		if dial.KindOf(first) != kind || dial.KindOf(last) != kind {
			t.Errorf("%s..%s are %q..%q, want %q", first, last, dial.KindOf(first), dial.KindOf(last), kind)
		}
		before, after := first.Prev(), last.Next()
		if kind != "" && before.IsValid() && dial.KindOf(before) == kind {
			t.Errorf("%s before the block is %q, too", before, kind)
		}
		if kind != "" && after.IsValid() && dial.KindOf(after) == kind {
			t.Errorf("%s after the block is %q, too", after, kind)
		}
	}
}

// What CheckURL allows holds no credentials, and its host is an allowed address or a plain name.
func FuzzCheckURL(f *testing.F) {
	for s := range spellings(f) {
		f.Add(s[0])
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := dial.Policy{}.Parse(text)
		if err != nil {
			if messages.CodeOf(err) != "invalid_input" {
				t.Fatalf("%q: %v has no code", text, err)
			}
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.Host != u.Host || u.Scheme != "https" || u.User != nil || again.User != nil {
			t.Fatalf("%q is allowed as %+v", text, u)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && dial.KindOf(addr) != "" {
			t.Fatalf("%q is allowed, a %s address", text, dial.KindOf(addr))
		}
		if strings.Trim(strings.ToLower(u.Hostname()), "abcdefghijklmnopqrstuvwxyz0123456789.:-_") != "" {
			t.Fatalf("%q is allowed with the host %q", text, u.Hostname())
		}
	})
}
