package ignore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/ignore"
	"github.com/seed889630bf/lastword/internal/fatal"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		rules, out, in string // a path that ends with a slash is a folder's; "_" is a space
	}{
		{"*.log", "a.log x/y.log .log", "a.log2 log"},
		{"build/", "build/ x/build/", "build x/build"},
		{"/build", "build build/", "x/build"},
		{"docs/gen", "docs/gen docs/gen/", "x/docs/gen docs/generic"},
		{"**/gen", "gen a/gen a/b/gen", "a/gen/x"},
		{"a/**/z", "a/z a/b/z a/b/c/z", "a b/z a/zz"},
		{"gen/**", "gen/x gen/a/b", "gen/ gen"},
		{"a**z/x", "az/x abz/x", "a/z/x"},
		{"*\n!keep.md", "a b/c", "keep.md b/keep.md"},
		{"!a\na", "a", "b"},
		{"# a\n\\#b\n\\!c", "#b !c", "a c"},
		{"a  \nb\\ \nc\td", "a b_ c\td", "b c a_"},
		{"a\r\nb\r\n", "a b", "a\r"},
		{"\uFEFFa", "a", "b"},
		{"[ab]*[!c]", "ax bxx", "ac cx a"},
		{"[^a]", "b", "a"},
		{"[]x]", "] x", "a"},
		{"[a", "", "[a a"},
		{"[a-c-]y", "ay by -y", "dy"},
		{"[[:digit:]x]", "1 x", "a :"},
		{`\*`, "*", "a"},
		{`a\`, "", `a a\`},
		{"?.md", "a.md", "ab.md .md"},
		{"a*b*c*d", "abcd axbxcxd", "abdc"},
		{"/", "", "a a/"},
		{"!", "", "a"},
		{"", "", "a"},
		{"foo//bar", "", "foo/bar"},
	}
	for _, test := range tests {
		rules := (*ignore.Rules)(nil).With("", test.rules)
		check(t, rules, test.rules, test.out, true)
		check(t, rules, test.rules, test.in, false)
	}
}

func check(t *testing.T, rules *ignore.Rules, text, paths string, out bool) {
	t.Helper()
	for path := range strings.SplitSeq(paths, " ") {
		name, folder := strings.CutSuffix(strings.ReplaceAll(path, "_", " "), "/")
		if name == "" {
			continue
		}
		if got := rules.Match(name, folder) == ignore.Leave; got != out {
			t.Errorf("%q leaves out %q: %v, want %v", text, path, got, out)
		}
	}
}

func TestInnerFilesDecide(t *testing.T) {
	top := (*ignore.Rules)(nil).With("", "*.tmp\n/keep\n")
	inner := top.With("a", "!x.tmp\n/keep\nsub/y\n")
	for path, want := range map[string]ignore.Verdict{
		"a/x.tmp": ignore.Keep, "a/b/x.tmp": ignore.Keep, "a/z.tmp": ignore.Leave,
		"a/keep": ignore.Leave, "a/b/keep": ignore.Silent, "a/sub/y": ignore.Leave, "a/b/sub/y": ignore.Silent,
	} {
		if got := inner.Match(path, false); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if top.With("a", "# nothing\n") != top {
		t.Error("a file without patterns adds rules")
	}
}

// TestMatchesAsGitDoes asks git itself about patterns and paths made of every small combination.
func TestMatchesAsGitDoes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not here to be asked")
	}
	dir := t.TempDir()
	for _, path := range []string{"a/b/c", "a/bb/c", "b/a/c", "ab/c/b", "c/a.b/a"} {
		fatal.IfError(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
	}
	paths := []string{"a", "a/b", "a/b/c", "a/bb", "b", "b/a", "b/a/c", "ab", "ab/c", "c/a.b", "c/a.b/a", "x", "a/x", "a/b/x.b"}
	for _, name := range []string{"x", "a/x", "a/b/x.b"} {
		fatal.IfError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	ask(t, dir, git, "init", "-q")
	for _, pattern := range []string{"a", "/a", "a/", "a/b", "a/**", "**/a", "**/a/", "a/**/c", "*", "*/", "*/c", "a*",
		"?b", "[ab]", "[!a]b", "a/*", "**", "/**", "**/", "/*/", "a/b/", "*.b", "**/b/**", "**/**/c", "a//b", "x", "\\x",
		"[a", "a\\", "b*b", "[]ab]", "[!]x]", "[^-]", "[a-]", "[[:alpha:]]", "[![:alpha:]-]", "[[:punct:]a]b", "\\[!a]"} {
		fatal.IfError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(pattern+"\n"), 0o644))
		said := ask(t, dir, git, append([]string{"check-ignore"}, paths...)...)
		rules := (*ignore.Rules)(nil).With("", pattern)
		for _, path := range paths {
			want := strings.Contains(said, "\n"+path+"\n")
			if got := leftOut(dir, rules, path); got != want {
				t.Errorf("%q leaves out %s: %v, git says %v", pattern, path, got, want)
			}
		}
	}
}

// leftOut judges as a walk does, which does not enter what is left out.
func leftOut(dir string, rules *ignore.Rules, path string) bool {
	for i, c := range path + "/" {
		if c != '/' {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, path[:i]))
		if rules.Match(path[:i], err == nil && info.IsDir()) == ignore.Leave {
			return true
		}
	}
	return false
}

func ask(t *testing.T, dir, git string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), git, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git %s: %v", args, err)
	}
	return "\n" + string(out)
}

func TestPatternsAreBounded(t *testing.T) {
	many := (*ignore.Rules)(nil).With("", strings.Repeat("a\n", 8<<10)+"b\n")
	if many.Match("b", false) != ignore.Silent || many.Match("a", false) != ignore.Leave {
		t.Error("the bound of 8,192 patterns does not hold")
	}
	long := (*ignore.Rules)(nil).With("", strings.Repeat("a", 1025)+"\n"+strings.Repeat("b", 1024))
	if long.Match(strings.Repeat("a", 1025), false) != ignore.Silent ||
		long.Match(strings.Repeat("b", 1024), false) != ignore.Leave {
		t.Error("the bound of 1,024 bytes does not hold")
	}
	for start, want := range map[string]ignore.Verdict{strings.Repeat("a/", 500): ignore.Leave, strings.Repeat("*/", 500): ignore.Silent} {
		rules := (*ignore.Rules)(nil).With("", strings.Repeat(start+"x\n", 40)+"*.md")
		if got := rules.Match("a.md", false); got != want {
			t.Errorf("behind 40 patterns of 500 segments such as %.2s, a.md gets %d", start, got)
		}
	}
	slow := (*ignore.Rules)(nil).With("", strings.Repeat("*a", 100)+"b\n"+strings.Repeat("**/a/", 100)+"b")
	if slow.Match(strings.Repeat("a/", 1000)+strings.Repeat("a", 255), false) != ignore.Silent {
		t.Error("a pattern matches what it should not")
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("*.log\n!a/**/[a-z]?\\x\n/b/", "a/b/c.log")
	f.Add("[[:alpha:]-]\n[", "-")
	f.Fuzz(func(t *testing.T, text, path string) {
		path = strings.Trim(path, "/")
		if path == "" {
			return
		}
		rules := (*ignore.Rules)(nil).With("", text)
		if v := rules.Match(path, true); v == ignore.Silent && rules.Match(path, false) != ignore.Silent {
			t.Error("a pattern matches the file but not the folder of its name")
		}
	})
}

// Patterns without wildcards are found, not searched; the others share the steps that there are.
func TestWorkIsBounded(t *testing.T) {
	const steps = 1_000_000
	for name, c := range map[string]struct {
		pattern string
		spent   bool
	}{
		"names":                {"name%d", false},
		"folders":              {"folder%d/", false},
		"paths":                {"/a/b/path%d", false},
		"endings":              {"*.end%d", true},
		"stars":                {"*a*a*a*a*a*a*%d", true},
		"classes":              {"[[:alpha:]]*[a-z][a-z]%d", true},
		"classes without end":  {"a*[[:alpha:][:[:[:[:%d", true},
		"folders at any depth": {"**/a/**/a/**/a%d", true},
	} {
		var text strings.Builder
		for i := range 5500 {
			fmt.Fprintf(&text, c.pattern+"\n", i)
		}
		rules := ignore.Bounded(t.Context(), steps).With("", text.String())
		for i := range 2000 {
			path := fmt.Sprintf("a/a/%d%s-", i, strings.Repeat("a", 100))
			if got := rules.Match(path, false); got != ignore.Silent && !rules.Spent() {
				t.Fatalf("%s: %q gets %d", name, path, got)
			}
		}
		if rules.Spent() != c.spent {
			t.Errorf("%s: all steps are used up: %v, want %v", name, rules.Spent(), c.spent)
		}
		if c.spent && rules.Match("x", false) != ignore.Leave {
			t.Errorf("%s: a path is let in that nobody looked at", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rules := ignore.Bounded(ctx, 1<<40).With("", strings.Repeat("*a*a*a*a*b\n", 5500))
	for range 2000 {
		rules.Match(strings.Repeat("a", 200), false)
	}
	if !rules.Spent() {
		t.Error("rules are matched after their context is done")
	}
}
