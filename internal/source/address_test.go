package source_test

import (
	"net/url"
	"strings"
	"testing"

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

func folder(path string) source.Address { return source.Address{Kind: source.Folder, Path: path} }
func local(path string) source.Address  { return source.Address{Kind: source.Archive, Path: path} }
func tarball(url string) source.Address { return source.Address{Kind: source.Archive, URL: url} }
func repo(url string) source.Address    { return source.Address{Kind: source.Git, URL: url} }
func at(url, ref string) source.Address {
	return source.Address{Kind: source.Git, URL: url, Ref: ref}
}
func below(url, rest string) source.Address {
	return source.Address{Kind: source.Git, URL: url, Rest: rest}
}

const (
	gh   = "https://github.com/roses/red"
	gl   = "https://gitlab.com/roses/dark/red"
	tea  = "https://codeberg.org/roses/red"
	bit  = "https://bitbucket.org/roses/red"
	own  = "https://git.example.com/roses/red"
	hash = "0123456789abcdef0123456789abcdef01234567"
)

var spellings = []struct {
	text string
	want source.Address
	said string // "" where String gives the text back
}{
	// Local paths.
	{".", folder("."), ""},
	{"./", folder("."), "."},
	{"..", folder(".."), ""},
	{"/", folder("/"), ""},
	{"/srv/garden", folder("/srv/garden"), ""},
	{"/srv//garden/", folder("/srv/garden"), "/srv/garden"},
	{"../up", folder("../up"), ""},
	{"sub/../garden", folder("garden"), "garden"},
	{"with space", folder("with space"), ""},
	{"фиалка", folder("фиалка"), ""},
	{"./-dash", folder("./-dash"), ""},
	{"plants/garden", folder("plants/garden"), ""},
	{"git@host:plants", folder("git@host:plants"), ""},
	{"github.com/plants/garden", folder("github.com/plants/garden"), ""},
	{"x.tar.gz", local("x.tar.gz"), ""},
	{"x.tar.gz/", folder("x.tar.gz"), ""},
	{"./dist/x.zip", local("dist/x.zip"), "dist/x.zip"},

	// owner/repo.
	{"roses/red", repo(gh), gh},
	{"roses/red/", repo(gh), gh},
	{"roses/red.git", repo(gh), gh},
	{"Roses/Red.js", repo("https://github.com/Roses/Red.js"), "https://github.com/Roses/Red.js"},
	{"roses/red@v1.2.0", at(gh, "v1.2.0"), gh + "/tree/v1.2.0"},
	{"roses/red@feature/x", at(gh, "feature/x"), gh + "@feature/x"},
	{"roses/red@stem@2.0.0", at(gh, "stem@2.0.0"), gh + "/tree/stem@2.0.0"},
	{"roses/red/tree/main", at(gh, "main"), gh + "/tree/main"},
	{"roses/red/tree/main/docs/guide", below(gh, "main/docs/guide"), gh + "/tree/main/docs/guide"},
	{"github.com/roses/red", repo(gh), gh},
	{"www.github.com/roses/red", repo(gh), gh},
	{"git.example.com/roses/red", repo(own), own},
	{"git.example.com/red.git", repo("https://git.example.com/red.git"), "https://git.example.com/red.git"},
	{"example.com/red.tgz", tarball("https://example.com/red.tgz"), "https://example.com/red.tgz"},
	{"localhost:3000/roses/red", repo("https://localhost:3000/roses/red"), "https://localhost:3000/roses/red"},
	{"github:roses/red", repo(gh), gh},
	{"gitlab:roses/dark/red", repo(gl), gl},

	// GitHub.
	{gh, repo(gh), ""},
	{gh + "/", repo(gh), gh},
	{gh + "//", repo(gh), gh},
	{gh + ".git", repo(gh), gh},
	{gh + ".git/", repo(gh), gh},
	{"HTTPS://GitHub.com/roses/red", repo(gh), gh},
	{"https://www.github.com/roses/red", repo(gh), gh},
	{"https://github.com:443/roses/red", repo(gh), gh},
	{"https://github.com./roses/red", repo(gh), gh},
	{"git+https://github.com/roses/red.git", repo(gh), gh},
	{gh + "?tab=readme-ov-file", repo(gh), gh},
	{gh + "#readme", repo(gh), gh},
	{gh + "#readme-ov-file", repo(gh), gh},
	{gh + "#L12", repo(gh), gh},
	{gh + "#L12-L20", repo(gh), gh},
	{gh + "#L3C1-L5C8", repo(gh), gh},
	{gh + "#lines-12:20", repo(gh), gh},
	{gh + "#", repo(gh), gh},
	{gh + "/blob/main/README.md#how-to-use-it", at(gh, "main"), gh + "/tree/main"},
	{gh + "/tree/main?plain=1#L3", at(gh, "main"), gh + "/tree/main"},
	{gh + "/tree", repo(gh), gh},
	{gh + "/tree/feature/x/docs/", below(gh, "feature/x/docs"), gh + "/tree/feature/x/docs"},
	{gh + "/tree/main/with%20space", below(gh, "main/with space"), gh + "/tree/main/with%20space"},
	{gh + "/tree/feature%2Fx/docs", below(gh, "feature/x/docs"), gh + "/tree/feature/x/docs"},
	{gh + "/tree/main/red.zip", below(gh, "main/red.zip"), ""},
	{gh + "/blob/main/README.md", at(gh, "main"), gh + "/tree/main"},
	{gh + "/blob/main/docs/guide.md", below(gh, "main/docs"), gh + "/tree/main/docs"},
	{gh + "/commit/" + hash, at(gh, hash), gh + "/tree/" + hash},
	{gh + "/releases/tag/v1.0", at(gh, "v1.0"), gh + "/tree/v1.0"},
	{gh + "/releases/tag/stem/v1.0", at(gh, "stem/v1.0"), gh + "@stem/v1.0"},
	{gh + "/archive/refs/heads/main.tar.gz", tarball(gh + "/archive/refs/heads/main.tar.gz"), ""},
	{gh + "/releases/download/v1/red.zip", tarball(gh + "/releases/download/v1/red.zip"), ""},
	{gh + "/tarball/main", tarball(gh + "/tarball/main"), ""},
	{"https://codeload.github.com/roses/red/tar.gz/refs/heads/main",
		tarball("https://codeload.github.com/roses/red/tar.gz/refs/heads/main"), ""},
	{"https://github.com/roses/red.zip", repo("https://github.com/roses/red.zip"), ""},

	// Other hosts.
	{gl, repo(gl), ""},
	{gl + ".git", repo(gl), gl},
	{gl + "/-/tree/main/docs", below(gl, "main/docs"), ""},
	{gl + "/-/tree/main?ref_type=heads", at(gl, "main"), gl + "/-/tree/main"},
	{gl + "/-/blob/main/docs/a.md", below(gl, "main/docs"), gl + "/-/tree/main/docs"},
	{gl + "/-/commit/" + hash, at(gl, hash), gl + "/-/tree/" + hash},
	{gl + "/-/archive/main/red-main.tar.bz2", tarball(gl + "/-/archive/main/red-main.tar.bz2"), ""},
	{gl + "/-/archive/main/red-main.zip?path=docs", tarball(gl + "/-/archive/main/red-main.zip?path=docs"),
		gl + "/-/archive/main/red-main.zip"},
	{gl + "/tree/main/docs", below(gl, "main/docs"), gl + "/-/tree/main/docs"},
	{tea + "/src/branch/feature/x/docs", below(tea, "feature/x/docs"), ""},
	{tea + "/src/tag/v1", at(tea, "v1"), tea + "/src/branch/v1"},
	{tea + "/src/commit/" + hash + "/docs", below(tea, hash+"/docs"), tea + "/src/branch/" + hash + "/docs"},
	{tea + "/archive/main.zip", tarball(tea + "/archive/main.zip"), ""},
	{own + "/src/branch/main/docs", below(own, "main/docs"), own + "/-/tree/main/docs"},
	{bit + "/src/main/docs/", below(bit, "main/docs"), bit + "/src/main/docs"},
	{bit + "/src/branch/docs", below(bit, "branch/docs"), ""},
	{bit + "/get/main.tar.gz", tarball(bit + "/get/main.tar.gz"), ""},
	{own + ".git", repo(own + ".git"), ""},
	{own + ".git@v2", at(own+".git", "v2"), own + ".git/-/tree/v2"},
	{own + "@v2", at(own, "v2"), own + "/-/tree/v2"},
	{"https://example.com/red", repo("https://example.com/red"), ""},
	{"https://example.com:8443/a/b/c/d", repo("https://example.com:8443/a/b/c/d"), ""},
	{"https://git.sr.ht/~roses/red", repo("https://git.sr.ht/~roses/red"), ""},
	{"https://dev.azure.com/roses/My%20Garden/_git/red", repo("https://dev.azure.com/roses/My%20Garden/_git/red"), ""},
	{"https://[2001:DB8::1]/roses/red", repo("https://[2001:db8::1]/roses/red"), "https://[2001:db8::1]/roses/red"},
	{"http://example.com:80/roses/red", repo("http://example.com/roses/red"), "http://example.com/roses/red"},
	{"https://example.com/pub/src/red-1.0.tar.xz", tarball("https://example.com/pub/src/red-1.0.tar.xz"), ""},
	{"https://example.com/red.TAR.ZST?sig=s3cret#x", tarball("https://example.com/red.TAR.ZST?sig=s3cret"),
		"https://example.com/red.TAR.ZST"},

	// ssh and file.
	{"git@github.com:roses/red.git", repo("ssh://git@github.com/roses/red"), "ssh://git@github.com/roses/red"},
	{"git@example.com:roses/red.git", repo("ssh://git@example.com/roses/red.git"), "ssh://git@example.com/roses/red.git"},
	{"example.com:roses/red", repo("ssh://example.com/roses/red"), "ssh://example.com/roses/red"},
	{"git@host:/srv/red.git", repo("ssh://git@host/srv/red.git"), "ssh://git@host/srv/red.git"},
	{"git@example.com:roses/red@v1", at("ssh://git@example.com/roses/red", "v1"), "ssh://git@example.com/roses/red@v1"},
	{"ssh://git@example.com:22/roses/red", repo("ssh://git@example.com/roses/red"), "ssh://git@example.com/roses/red"},
	{"ssh://git@example.com:2222/roses/red", repo("ssh://git@example.com:2222/roses/red"), ""},
	{"ssh://h/roses/red/-/tree/main/docs", below("ssh://h/roses/red", "main/docs"), "ssh://h/roses/red/-/tree/main/docs"},
	{"git+ssh://git@github.com/roses/red", repo("ssh://git@github.com/roses/red"), "ssh://git@github.com/roses/red"},
	{"file:///srv/red.git", repo("file:///srv/red.git"), ""},
	{"file:///srv/red@v1", repo("file:///srv/red@v1"), ""},
	{"file://localhost/srv/red", repo("file:///srv/red"), "file:///srv/red"},
	{"file:///srv/red.tar.gz", tarball("file:///srv/red.tar.gz"), ""},
}

func TestParse(t *testing.T) {
	for _, c := range spellings {
		got, err := source.Parse(c.text, here)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.text, got, c.want)
		}
		said := c.said
		if said == "" {
			said = c.text
		}
		if got.String() != said {
			t.Errorf("%s is shown as %s, want %s", c.text, got, said)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                            "owner/repo for GitHub",
		"  ":                          "owner/repo for GitHub",
		"nowhere":                     "no folder or archive \"nowhere\"",
		"./nowhere":                   "no folder or archive \"./nowhere\"",
		"../plants/garden":            "no folder",
		"/nowhere":                    "no folder",
		"~/garden":                    "no folder",
		`C:\garden`:                   "no folder",
		`plants\garden`:               "backslash",
		"no where":                    "space",
		"a/b c":                       "space",
		"nowhere.zip":                 "no folder or archive",
		"dist/nowhere.tgz":            "path of a file",
		"docs/api/guide":              "no folder",
		"-dash":                       "write ./",
		"--upload-pack=touch":         "dash",
		"-roses/red":                  "dash",
		"roses/-red":                  "cannot be the name of an owner or a repository",
		"roses/red@-x":                "branch, tag or commit",
		"roses/red@":                  "branch, tag or commit",
		"roses/red@a..b":              "branch, tag or commit",
		"roses/red@a b":               "space",
		"https://github.com/roses/..": "path",
		"ro_ses!/red":                 "not name a repository",
		"roses/red\n":                 "control",
		"roses/\x1b[31mred":           "control",
		"roses/re\u202ed":             "invisible",
		"roses/\xffred":               "UTF-8",
		strings.Repeat("a/", 3000):    "longer",
		"https://git.example.com/" + strings.Repeat("a/", 1000) + "r.git": "1000 groups",
		"git@git.example.com:" + strings.Repeat("a/", 1000) + "r.git":     "1000 groups",
		"https://git.example.com/o/" + strings.Repeat("r", 256):           "cannot be the name",
		"https://github.com":                      "no repository",
		"https://github.com/":                     "no repository",
		"https://github.com/roses":                "https://github.com/roses/REPO",
		"github.com/roses":                        "https://github.com/roses/REPO",
		"https://gitlab.com/roses":                "https://gitlab.com/roses/REPO",
		"git@github.com:roses":                    "REPO",
		"https://github.com/orgs/roses/people":    "OWNER/REPO",
		gh + "/issues/3":                          gh + ",",
		gh + "/pull/3/files":                      gh + ",",
		gh + "/wiki":                              gh + ",",
		gl + "/-/issues":                          gl + ",",
		gh + "/tree/-x/docs":                      "branch, tag or commit",
		gh + "/tree/main/../../x":                 "dots",
		gh + "/tree/main/%2e%2e/x":                "dots",
		gh + "/tree/main/a%00b":                   "control",
		gh + "/tree/main/a%5Cb":                   "backslashes",
		gh + "/a b":                               "%20",
		"https://github.com/roses/.git":           "cannot be the name",
		"https://github.com/ro.ses/red":           "owner/repo",
		"https://-x.example.com/a/b":              "no host",
		"https:///a/b":                            "no host",
		"https://exa mple.com/a/b":                "space",
		"https://example.com:port/a/b":            "cannot be read",
		"https://bücher.example/a/b":              "no host",
		"https://[fe80::1%25eth0]/a/b":            "no host",
		"https:/github.com/roses/red":             "https://",
		"https:roses/red":                         "https://",
		"ftp://example.com/red.git":               "https://",
		"git://example.com/red.git":               "https://",
		"javascript://x/y":                        "https://",
		"file://server/share":                     "another machine",
		"file:///":                                "no repository",
		"npm:left":                                "neither a folder nor a repository",
		"roses/red#v1":                            "owner/repo@v1",
		"roses/red#readme":                        "owner/repo@v1",
		"roses/red@v1#v2":                         "owner/repo@v1",
		"github:roses/red#v1":                     "owner/repo@v1",
		"github.com/roses/red#v1":                 gh + "@v1",
		gh + "#v1":                                gh + "@v1",
		gh + "#L":                                 gh + "@v1",
		gh + "#Lima":                              gh + "@v1",
		gh + "#lines-x":                           gh + "@v1",
		gh + "@v1#subdirectory=x":                 gh + "@v1",
		"git+" + gh + ".git#main":                 gh + ".git@v1",
		gl + "#v1":                                gl + "@v1",
		"git@github.com:roses/red.git#v1":         "@v1",
		"file:///srv/red#v1":                      "%23",
		"ssh://-oProxyCommand=x/roses/red":        "no host",
		"ssh://git@example.com/roses/red.git/sub": "page",
		"ssh://h/roses/red@v1/-/tree/main/docs":   "page",
	} {
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

func TestCredentialsAreRefusedAndNotRepeated(t *testing.T) {
	for _, text := range []string{
		"https://s3cret@github.com/roses/red",
		"https://roses:s3cret@github.com/roses/red",
		"https://:s3cret@github.com/roses/red",
		"https://x:s3cret@example.com/red.tar.gz",
		"http://x:s3cret@[::1]/a/b",
		"git+https://s3cret@github.com/roses/red",
		"ssh://git:s3cret@example.com/roses/red",
		"file://x:s3cret@localhost/srv/red",
		"ftp://x:s3cret@example.com/red",
		"s3cret@github.com/roses/red",
		"roses:s3cret@github.com/roses/red",
		"roses:s3cret@github.com:roses/red",
	} {
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
	for _, text := range []string{
		"https://roses:s3cret/x@github.com/roses/red",
		"https://roses:s3cret@exa mple.com/a/b",
		"https://x:s3cret@/",
		"https:x:s3cret@github.com/roses/red",
		"//x:s3cret@github.com/roses/red",
		"nowhere?token=s3cret",
		"https://example.com:bad/?token=s3cret",
		"https://github.com/roses?token=s3cret",
		`x\y:s3cret@z`,
		"-x:s3cret@z",
	} {
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
	for _, c := range spellings {
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
