package actors_test

import (
	"os"
	"strings"
	"testing"
)

// The README's programs are those of the examples, which are compiled and run.
func TestReadmeShowsTheExamples(t *testing.T) {
	readme, examples := text(t, "../README.md"), text(t, "example_test.go")
	for marker, function := range map[string]string{"embed": "Example", "job": "weather"} {
		shown := between(t, readme, "<!-- "+marker+":begin -->\n```go\n", "```\n<!-- "+marker+":end -->")
		start := strings.Index(examples, "\nfunc "+function+"(")
		end := strings.Index(examples[start+1:], "\n}\n")
		if start < 0 || end < 0 {
			t.Fatalf("there is no function %s", function)
		}
		code := examples[start+1:][:end+len("\n}\n")]
		if before, _, found := strings.Cut(code, "\t// Output:"); found {
			code = before + "}\n"
		}
		if shown != code {
			t.Errorf("the README shows\n%s\nthe example is\n%s", shown, code)
		}
	}
}

func TestOwnJobIsShort(t *testing.T) {
	code := between(t, text(t, "../README.md"), "<!-- job:begin -->\n```go\n", "```\n<!-- job:end -->")
	if lines := strings.Count(code, "\n"); lines >= 30 {
		t.Errorf("a job of one's own takes %d lines", lines)
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
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
