package scan_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

func TestParseOrigin(t *testing.T) {
	tests := []struct {
		remote, host, owner, repo string
	}{
		{"https://github.com/o/r", "github.com", "o", "r"},
		{"https://github.com/o/r.git", "github.com", "o", "r"},
		{"https://github.com/o/r/", "github.com", "o", "r"},
		{"https://user:token@GitHub.com/o/r.git", "github.com", "o", "r"},
		{"https://git.example.com:8443/o/r", "git.example.com:8443", "o", "r"},
		{"git@github.com:o/r.git", "github.com", "o", "r"},
		{"github.com:o/r", "github.com", "o", "r"},
		{"ssh://git@github.com/o/r.git", "github.com", "o", "r"},
		{"ssh://git@gitlab.example.com:2222/a/b/c.git", "gitlab.example.com", "a/b", "c"},
		{"git@gitlab.com:group/sub/deep/r.git", "gitlab.com", "group/sub/deep", "r"},
		{"git://host/o/r", "host", "o", "r"},
		{"https://github.com/o/my.repo_x-1", "github.com", "o", "my.repo_x-1"},
		{"https://github.com/r", "", "", ""},
		{"https://github.com/../r", "", "", ""},
		{"https://github.com/o/..", "", "", ""},
		{"https://github.com/o//r", "github.com", "o", "r"},
		{"https://github.com/a//b/r", "", "", ""},
		{"https://github.com/%2e%2e/r", "", "", ""},
		{"git@github.com:../../etc/passwd", "", "", ""},
		{"git@-oProxyCommand=x:o/r", "", "", ""},
		{"user:pass@host:o/r", "", "", ""},
		{"/srv/git/r.git", "", "", ""},
		{"../o/r", "", "", ""},
		{`C:\src\r`, "", "", ""},
		{"C:/src/r", "", "", ""},
		{"file:///srv/git/o/r", "", "", ""},
		{"javascript://host/o/r", "", "", ""},
		{"", "", "", ""},
		{"https://h.example/" + strings.Repeat("a/", 20) + "r", "h.example", strings.Repeat("a/", 19) + "a", "r"},
		{"https://h.example/" + strings.Repeat("a/", 1000) + "r", "", "", ""},
		{"git@h.example:" + strings.Repeat("a", 300) + "/r", "", "", ""},
	}
	for _, test := range tests {
		o := scan.ParseOrigin(test.remote, "", "")
		if o.Host != test.host || o.Owner != test.owner || o.Repo != test.repo {
			t.Errorf("%s: host %q owner %q repo %q, want %q %q %q", test.remote, o.Host, o.Owner, o.Repo, test.host, test.owner, test.repo)
		}
		want := ""
		if test.host != "" {
			want = "https://" + test.host + "/" + test.owner + "/" + test.repo
		}
		if o.Remote != want {
			t.Errorf("%s: remote %q, want %q", test.remote, o.Remote, want)
		}
	}
}

func TestParseOriginRefusesWhatIsNoCommit(t *testing.T) {
	for commit, want := range map[string]string{"0123456789abcdef": "0123456789abcdef", "main": "", "../x": "", "ABCDEF01": "", "": ""} {
		if got := scan.ParseOrigin("", commit, "").Commit; got != want {
			t.Errorf("commit %q becomes %q, want %q", commit, got, want)
		}
	}
}

// Owner and Repo become folders of an output path.
func TestOriginIsSafeInPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./a%2e~\\-]{0,12}`)).Draw(t, "path")
		start := rapid.SampledFrom([]string{"https://h/", "git@h:", "ssh://git@h/", "https://u:p@h/", ""}).Draw(t, "start")
		o := scan.ParseOrigin(start+path, "", rapid.String().Draw(t, "prefix"))
		for part := range strings.SplitSeq(o.Owner+"/"+o.Repo, "/") {
			if o.Remote != "" && (part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\@: \x00%")) {
				t.Fatalf("%+v", o)
			}
		}
		if strings.HasPrefix(o.Prefix, "/") || o.Prefix == ".." || strings.HasPrefix(o.Prefix, "../") {
			t.Fatalf("prefix %q", o.Prefix)
		}
	})
}
