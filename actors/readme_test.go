package actors_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The README's program is the example, which is compiled and run. It embeds the runtime in about 25 lines.
func TestReadmeShowsTheExample(t *testing.T) {
	shown := between(t, text(t, "../README.md"), "<!-- embed:begin -->\n```go\n", "```\n<!-- embed:end -->")
	if code := function(t, "actors/example_test.go", "Example"); shown != code {
		t.Errorf("the README shows\n%s\nthe example is\n%s", shown, code)
	}
	if lines := strings.Count(shown, "\n"); lines > 27 {
		t.Errorf("embedding takes %d lines", lines)
	}
}

var example = regexp.MustCompile("(?s)<!-- example: (\\S+) (\\S+) -->\n```go\n(.*?)```\n|```go\n|`(Example\\w*)`")

// The page of jobs shows functions of examples, and names other examples that there are.
func TestPageOfJobsShowsExamples(t *testing.T) {
	all := text(t, "example_test.go") + text(t, "example_embed_test.go") + text(t, "../testkit/system_example_test.go")
	for _, m := range example.FindAllStringSubmatch(text(t, "../docs/jobs.md"), -1) {
		switch {
		case m[4] != "" && !strings.Contains(all, "\nfunc "+m[4]+"("):
			t.Errorf("there is no %s", m[4])
		case m[4] == "" && m[1] == "":
			t.Error("code on the page is of no example")
		case m[1] != "" && m[3] != function(t, m[1], m[2]):
			t.Errorf("the page shows\n%s\nthe example is\n%s", m[3], function(t, m[1], m[2]))
		}
	}
}

func TestOwnJobIsShort(t *testing.T) {
	if lines := strings.Count(function(t, "actors/example_test.go", "weather"), "\n"); lines >= 30 {
		t.Errorf("a job of one's own takes %d lines", lines)
	}
}

// function is the code of a function of the examples, without what it prints.
func function(t *testing.T, file, name string) string {
	t.Helper()
	body := between(t, text(t, "../"+file), "\nfunc "+name+"(", "\n}\n")
	body, _, _ = strings.Cut(body, "\n\t// Output:")
	return "func " + name + "(" + body + "\n}\n"
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	noError(t, err)
	return string(data)
}

func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, begin)
	inside, _, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("nothing between %q and %q", begin, end)
	}
	return inside
}
