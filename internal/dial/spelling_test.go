package dial_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

const (
	ok        = ""
	private   = "--allow-private"
	unusual   = "unusual spelling"
	badName   = "not a host name"
	noURL     = "not a URL"
	notWhole  = "not a whole URL"
	metadata  = "metadata service"
	secret    = "LASTWORD_GIT_TOKEN (or GH_TOKEN or GITHUB_ACCESS_TOKEN)"
	badScheme = "not supported"
	badPort   = "not a port"
)

// spellings holds what the zero Policy says of each URL, and what the one says that allows everything. TestKindOf has
// the other blocks of addresses.
var spellings = []struct{ url, strict, open string }{
	// public
	{"https://github.com/o/r", ok, ok},
	{"https://github.com./o/r", ok, ok},
	{"HTTPS://GitHub.COM/o/r", ok, ok},
	{"https://github.com:443/o/r", ok, ok},
	{"https://github.com:/o/r", ok, ok},
	{"https://8.8.8.8/", ok, ok},
	{"https://[2606:4700::1111]/", ok, ok},
	{"https://[2606:4700:0:0:0:0:0:1111]:8443/", ok, ok},
	{"https://xn--bcher-kva.example/", ok, ok},
	{"https://a_b.example/", ok, ok},
	{"https://127.0.0.1.nip.io/", ok, ok}, // dialing tells
	{"https://good.example/@127.0.0.1/", ok, ok},
	{"https://good.example/?@127.0.0.1/", ok, ok},
	{"https://good.example#@127.0.0.1/", ok, ok},
	{"https://1.1.1.1.example/", ok, ok},
	{"https://0x.example/", ok, ok},

	// not public, written plainly
	{"https://127.0.0.1/", "127.0.0.1 is a loopback address; " + private, ok},
	{"https://localhost/", private, ok},
	{"https://LOCALHOST./", private, ok},
	{"https://a.b.localhost:1/", private, ok},
	{"https://0.0.0.0/", private, ok},
	{"https://10.0.0.1/", private, ok},

	// IPv6
	{"https://[::]/", ":: is an unspecified address; " + private, ok},
	{"https://[::1]/", private, ok},
	{"https://[0:0:0:0:0:0:0:1]:443/", private, ok},
	{"https://[0000:0000:0000:0000:0000:0000:0000:0001]/", private, ok},
	{"https://[::ffff:127.0.0.1]/", private, ok},
	{"https://[::FFFF:7f00:1]/", private, ok},
	{"https://[::ffff:8.8.8.8]/", private, ok},
	{"https://[::127.0.0.1]/", private, ok},
	{"https://[::8.8.8.8]/", private, ok},
	{"https://[::ffff:0:127.0.0.1]/", private, ok},
	{"https://[64:ff9b::127.0.0.1]/", private, ok},
	{"https://[64:ff9b::808:808]/", private, ok},
	{"https://[2002:7f00:1::]/", private, ok},
	{"https://[fc00::1]/", "is a unique local address; " + private, ok},
	{"https://[fe80::1]/", private, ok},
	{"https://[fe80::1%25eth0]/", private, ok},
	{"https://[2606:4700::1111%25eth0]/", "zone", "zone"},
	{"https://[::1%25lo]/", "zone", "zone"},
	{"https://[::1", noURL, noURL},
	{"https://[::1]evil/", noURL, noURL},
	{"https://[127.0.0.1]/", noURL, noURL},
	{"https://[v1.fe]/", noURL, noURL},
	{"https://[::g]/", noURL, noURL},

	// metadata, also in disguise
	{"https://169.254.169.254/latest/meta-data/", metadata, metadata},
	{"https://169.254.170.2/", metadata, metadata},
	{"https://100.100.100.200/", metadata, metadata},
	{"https://168.63.129.16/", metadata, metadata},
	{"https://192.0.0.192/", metadata, metadata},
	{"https://[fd00:ec2::254]/", metadata, metadata},
	{"https://[fd20:ce::254]/", metadata, metadata},
	{"https://[::ffff:169.254.169.254]/", metadata, metadata},
	{"https://[::ffff:a9fe:a9fe]/", metadata, metadata},
	{"https://[::a9fe:a9fe]/", metadata, metadata},
	{"https://[::ffff:0:a9fe:a9fe]/", metadata, metadata},
	{"https://[64:ff9b::a9fe:a9fe]/", metadata, metadata},
	{"https://[64:ff9b:1::169.254.169.254]/", metadata, metadata},
	{"https://[2002:a9fe:a9fe::1]/", metadata, metadata},
	{"https://[2001:0:1:2:3:4:5601:5601]/", metadata, metadata},

	// IPv4 as only some resolvers read it
	{"https://2130706433/", unusual, unusual},
	{"https://0x7f000001/", unusual, unusual},
	{"https://0X7F.1/", unusual, unusual},
	{"https://0x7f.0x0.0x0.0x1/", unusual, unusual},
	{"https://0177.0.0.1/", unusual, unusual},
	{"https://017700000001/", unusual, unusual},
	{"https://127.1/", unusual, unusual},
	{"https://127.0.1/", unusual, unusual},
	{"https://127.0.0.01/", unusual, unusual},
	{"https://127.000.000.001/", unusual, unusual},
	{"https://0/", unusual, unusual},
	{"https://0x/", unusual, unusual},
	{"https://127.0.0.1./", unusual, unusual},
	{"https://8.8.8.8./", unusual, unusual},
	{"https://256.256.256.256/", unusual, unusual},
	{"https://1.2.3.4.5/", unusual, unusual},
	{"https://foo.0x1/", unusual, unusual},
	{"https://4294967296/", unusual, unusual},

	// letters that are not what they seem
	{"https://127。0。0。1/", badName, badName},
	{"https://①②⑦.⓪.⓪.①/", badName, badName},
	{"https://\uff11\uff12\uff17.0.0.1/", badName, badName},
	{"https://١٢٧.0.0.1/", badName, badName},
	{"https://ⓛocalhost/", badName, badName},
	{"https://gıthub.com/", badName, badName},
	{"https://bücher.example/", badName, badName},
	{"https://127%E3%80%820%E3%80%820%E3%80%821/", badName, badName},
	{"https://local\u00adhost/", badName, badName},
	{"https://localhost\u200b/", badName, badName},
	{"https://127%2e0.0.1/", noURL, noURL},
	{"https://%6cocalhost/", noURL, noURL},

	// names that are none
	{"https:///path", "names no host", "names no host"},
	{"https://", "names no host", "names no host"},
	{"https://:443/", "names no host", "names no host"},
	{"https://./", badName, badName},
	{"https://a..b/", badName, badName},
	{"https://github.com../", badName, badName},
	{"https://.github.com/", badName, badName},
	{"https://-a.example/", badName, badName},
	{"https://a-.example/", badName, badName},
	{"https://a,b.example/", badName, badName},
	{"https://a;b/", badName, badName},
	{"https://$(id)/", badName, badName},
	{"https://" + strings.Repeat("a", 64) + ".example/", badName, badName},
	{"https://" + strings.Repeat("a.", 130) + "example/", "253", "253"},
	{"https://a b/", noURL, noURL},
	{"https://a\tb/", noURL, noURL},
	{"https://a\r\nHost: b/", noURL, noURL},
	{"https://a\x00.example/", noURL, noURL},
	{" https://github.com/", noURL, noURL},
	{`https://good.example\@127.0.0.1/`, noURL, noURL},
	{`https://127.0.0.1\.good.example/`, noURL, noURL},
	{`https:\\127.0.0.1\`, notWhole, notWhole},
	{`https:/\127.0.0.1/`, "names no host", "names no host"},
	{"https:127.0.0.1/", notWhole, notWhole},
	{"https:/127.0.0.1/", "names no host", "names no host"},
	{"//127.0.0.1/", notWhole, notWhole},
	{"127.0.0.1", notWhole, notWhole},
	{"127.0.0.1:80", noURL, noURL},
	{"github.com/o/r", notWhole, notWhole},
	{"", notWhole, notWhole},

	// ports
	{"https://github.com:0/", badPort, badPort},
	{"https://github.com:65536/", badPort, badPort},
	{"https://github.com:99999999999999999999/", badPort, badPort},
	{"https://github.com:65535/", ok, ok},
	{"https://github.com:-1/", noURL, noURL},
	{"https://github.com:80:80/", noURL, noURL},
	{"https://github.com:https/", noURL, noURL},

	// credentials
	{"https://user:hunter2@github.com/o/r", secret, secret},
	{"https://hunter2@github.com/o/r", secret, secret},
	{"https://@github.com/o/r", secret, secret},
	{"https://:@github.com/", secret, secret},
	{"https://github.com@127.0.0.1/", secret, secret},
	{"https://github.com:443@127.0.0.1/", secret, secret},
	{"https://hunter2%40github.com@127.0.0.1/", secret, secret},
	{"https://hunter2@github.com@127.0.0.1/", secret, secret},
	{"https://user:hunter2@%zz/", noURL, noURL},
	{"https://user:hunter2@github.com:no/", noURL, noURL},
	{"http://hunter2@github.com/", "--allow-http", secret},
	{"ssh://git:hunter2@github.com/", "--allow-ssh", secret},

	// schemes
	{"http://github.com/", "--allow-http", ok},
	{"HTTP://127.0.0.1/", "--allow-http", ok},
	{"http://169.254.169.254/", "--allow-http", metadata},
	{"ssh://git@github.com/o/r", "--allow-ssh", ok},
	{"ssh://git@127.0.0.1/o/r", "--allow-ssh", ok},
	{"ssh://git@2130706433/o/r", "--allow-ssh", unusual},
	{"ssh://-oProxyCommand=id/", "--allow-ssh", badName},
	{"git://github.com/o/r", badScheme, badScheme},
	{"git+ssh://github.com/o/r", badScheme, badScheme},
	{"ftp://github.com/", badScheme, badScheme},
	{"gopher://127.0.0.1:70/_x", badScheme, badScheme},
	{"dict://127.0.0.1:11211/", badScheme, badScheme},
	{"ldap://127.0.0.1/", badScheme, badScheme},
	{"ws://github.com/", badScheme, badScheme},
	{"ext::sh -c id", notWhole, notWhole},
	{"javascript:alert(1)", notWhole, notWhole},
	{"data:,x", notWhole, notWhole},
	{"hTTpS+unix:///var/run/docker.sock", badScheme, badScheme},
	{"file:///etc/passwd", "file URLs are not allowed", ok},
	{"FILE:///etc/passwd", "file URLs are not allowed", ok},
	{"file://localhost/etc/passwd", "file URLs are not allowed", ok},
	{"file://evil.example/share", "file URLs are not allowed", "no other machine"},
	{"file:etc/passwd", notWhole, notWhole},
	{"file://", "file URLs are not allowed", "absolute path"},
}

func TestSpellings(t *testing.T) {
	open := dial.Policy{HTTP: true, Private: true, SSH: true, File: true}
	for _, s := range spellings {
		judge(t, dial.Policy{}, s.url, s.strict)
		judge(t, open, s.url, s.open)
	}
}

func judge(t *testing.T, p dial.Policy, text, want string) {
	t.Helper()
	_, err := p.Parse(text)
	switch {
	case want == ok && err != nil:
		t.Errorf("%q with %+v: %v", text, p, err)
	case want == ok:
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
	for _, c := range []struct{ kind, first, last string }{
		{"this-network", "0.0.0.1", "0.255.255.255"},
		{"private", "10.0.0.0", "10.255.255.255"},
		{"carrier-grade NAT", "100.64.0.0", "100.127.255.255"},
		{"loopback", "127.0.0.0", "127.255.255.255"},
		{"link-local", "169.254.0.0", "169.254.255.255"},
		{"private", "172.16.0.0", "172.31.255.255"},
		{"reserved", "192.0.0.0", "192.0.0.255"},
		{"documentation", "192.0.2.0", "192.0.2.255"},
		{"6to4 relay", "192.88.99.0", "192.88.99.255"},
		{"private", "192.168.0.0", "192.168.255.255"},
		{"benchmark", "198.18.0.0", "198.19.255.255"},
		{"documentation", "198.51.100.0", "198.51.100.255"},
		{"documentation", "203.0.113.0", "203.0.113.255"},
		{"multicast", "224.0.0.0", "239.255.255.255"},
		{"reserved", "240.0.0.0", "255.255.255.254"},
		{"IPv4-compatible", "::2", "::ffff:ffff"},
		{"reserved", "::1:0:0", "::fffe:ffff:ffff"},
		{"IPv4-mapped", "::ffff:0:0", "::ffff:ffff:ffff"},
		{"IPv4-translated", "::ffff:0:0:0", "::ffff:0:ffff:ffff"},
		{"NAT64", "64:ff9b::", "64:ff9b::ffff:ffff"},
		{"NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"},
		{"discard", "100::", "100::1:ffff:ffff:ffff:ffff"},
		{"Teredo", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"benchmark", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"},
		{"reserved", "2001:2:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"reserved", "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"link-local", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"multicast", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"", "2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"", "1.0.0.0", "9.255.255.255"},
	} {
		first, last := netip.MustParseAddr(c.first), netip.MustParseAddr(c.last)
		if dial.KindOf(first) != c.kind || dial.KindOf(last) != c.kind {
			t.Errorf("%s..%s are %q..%q, want %q", first, last, dial.KindOf(first), dial.KindOf(last), c.kind)
		}
		before, after := first.Prev(), last.Next()
		if c.kind != "" && before.IsValid() && dial.KindOf(before) == c.kind {
			t.Errorf("%s before the block is %q, too", before, c.kind)
		}
		if c.kind != "" && after.IsValid() && dial.KindOf(after) == c.kind {
			t.Errorf("%s after the block is %q, too", after, c.kind)
		}
	}
}

// What CheckURL allows holds no credentials, and its host is an allowed address or a plain name.
func FuzzCheckURL(f *testing.F) {
	for _, s := range spellings {
		f.Add(s.url)
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
