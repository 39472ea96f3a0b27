package source_test

import (
	"cmp"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// here is the file system of these tests.
func here(path string) bool {
	switch path {
	case ".", "..", "/", "/srv/garden", "sub", "garden", "plants/garden", "../up", "with space", "-dash", "x.tar.gz",
		"dist/x.zip", "git@host:plants", "github.com/plants/garden", "фиалка":
		return true
	}
	return false
}

const gh = "https://github.com/roses/red"

// spelling is an address, what it means, and how String shows it.
type spelling struct {
	text string
	want source.Address
	said string
}

func spellings(t testing.TB) (all []spelling) {
	for _, group := range fatal.Table[map[string][][6]string](t, "testdata/spellings.json") {
		for _, row := range group {
			s := spelling{row[0], source.Address{Ref: row[3], Rest: row[4]}, cmp.Or(row[5], row[0])}
			switch row[1] {
			case "folder":
				s.want.Path = row[2]
			case "file":
				s.want.Kind, s.want.Path = source.Archive, row[2]
			case "archive":
				s.want.Kind, s.want.URL = source.Archive, row[2]
			case "git":
				s.want.Kind, s.want.URL = source.Git, row[2]
			}
			all = append(all, s)
		}
	}
	return all
}

func TestParse(t *testing.T) {
	for _, c := range spellings(t) {
		got, err := source.Parse(c.text, here)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.text, got, c.want)
		}
		if got.String() != c.said {
			t.Errorf("%s is shown as %s, want %s", c.text, got, c.said)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	refused := fatal.Table[map[string][]string](t, "testdata/refused.json") // by what the error says
	refused["UTF-8"] = []string{"roses/\xffred"}
	refused["longer"] = []string{strings.Repeat("a/", 3000)}
	refused["1000 groups"] = []string{"https://git.example.com/" + strings.Repeat("a/", 1000) + "r.git", "git@git.example.com:" + strings.Repeat("a/", 1000) + "r.git"}
	refused["cannot be the name"] = append(refused["cannot be the name"], "https://git.example.com/o/"+strings.Repeat("r", 256))
	for says, texts := range refused {
		for _, text := range texts {
			a, err := source.Parse(text, here)
			switch {
			case err == nil:
				t.Errorf("%q is understood as %+v", text, a)
			case messages.CodeOf(err) != messages.CauseInvalidInput:
				t.Errorf("%q: the error has the code %q", text, messages.CodeOf(err))
			case !strings.Contains(err.Error(), says):
				t.Errorf("%q: %v, want it to say %s", text, err, says)
			}
		}
	}
}

func TestCredentialsAreRefusedAndNotRepeated(t *testing.T) {
	for _, row := range fatal.Rows(t, "testdata/credentials.txt") {
		text := row[0]
		_, err := source.Parse(text, nil)
		if err == nil {
			t.Errorf("%s is accepted", text)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error repeats it: %v", text, err)
		}
		if !strings.Contains(err.Error(), "LASTWORD_GIT_TOKEN") || !strings.Contains(err.Error(), "GH_TOKEN") {
			t.Errorf("%s: the error does not say where a token goes: %v", text, err)
		}
	}
}

func TestErrorsRepeatNoSecrets(t *testing.T) {
	for _, row := range fatal.Rows(t, "testdata/secrets.txt") {
		text := row[0]
		if _, err := source.Parse(text, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestStringOfWhatWasResolved(t *testing.T) {
	for _, c := range []struct {
		a    source.Address
		want string
	}{
		{source.Address{Kind: source.Git, URL: gh, Ref: "feature/x", Dir: "docs"}, gh + "/tree/feature/x/docs"},
		{source.Address{Kind: source.Git, URL: gh, Dir: "docs"}, gh + "/tree/HEAD/docs"},
	} {
		if got := c.a.String(); got != c.want {
			t.Errorf("%+v is shown as %s, want %s", c.a, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range spellings(f) {
		f.Add(c.text)
	}
	for _, text := range []string{"https://x:y@z/a@b/-/tree/c", "https://h/a/b@c/d/tree/e.git", "https://gitlab.com/a/b/c/tree/main/d/-/",
		"https://gitlab.com/a/-/?ref_type=head", "https://gitlab.com/a/b@/c.git", "a/b.git.git", "https://h/a/b/.@c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := source.Parse(text, here)
		if err != nil {
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Fatalf("%q: the code is %q", text, messages.CodeOf(err))
			}
			return
		}
		said := a.String()
		if len(said) > 4096 { // percent signs have made it longer than Parse reads
			return
		}
		again, err := source.Parse(said, here)
		if err != nil {
			t.Fatalf("%q is shown as %q, which is refused: %v", text, said, err)
		}
		if a.Kind == source.Archive && a.URL != "" {
			a.URL, _, _ = strings.Cut(a.URL, "?")
		}
		if again != a {
			t.Fatalf("%q:\n     %+v\n%q gives\n     %+v", text, a, said, again)
		}
		safe(t, a)
	})
}

// safe checks what the transports rely on.
func safe(t *testing.T, a source.Address) {
	t.Helper()
	if (a.Path == "") == (a.URL == "") || a.Ref != "" && a.Rest != "" || a.Dir != "" {
		t.Fatalf("%+v is not one thing", a)
	}
	if strings.HasPrefix(a.Ref, "-") || strings.HasPrefix(a.Rest, "-") || strings.HasPrefix(a.Path, "-") {
		t.Fatalf("%+v can be taken for a flag", a)
	}
	if a.URL == "" {
		return
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	if _, secret := u.User.Password(); secret || u.User != nil && u.Scheme != "ssh" || u.Fragment != "" {
		t.Fatalf("%+v has more than it should", a)
	}
	if strings.HasPrefix(u.Host, "-") || u.Host == "" && u.Scheme != "file" {
		t.Fatalf("%+v has no host to ask", a)
	}
}
