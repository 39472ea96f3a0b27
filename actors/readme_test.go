package actors_test

import (
	"os"
	"strings"
	"testing"
)

// The README's program is the example, which is compiled and run. It embeds the runtime in about 25 lines.
func TestReadmeShowsTheExample(t *testing.T) {
	code, _, _ := strings.Cut(function(t, "Example"), "\t// Output:")
	shown := between(t, text(t, "../README.md"), "<!-- embed:begin -->\n```go\n", "```\n<!-- embed:end -->")
	if shown != code+"}\n" {
		t.Errorf("the README shows\n%s\nthe example is\n%s", shown, code)
	}
	if lines := strings.Count(shown, "\n"); lines > 27 {
		t.Errorf("embedding takes %d lines", lines)
	}
}

func TestOwnJobIsShort(t *testing.T) {
	if lines := strings.Count(function(t, "weather"), "\n"); lines >= 30 {
		t.Errorf("a job of one's own takes %d lines", lines)
	}
}

// function is the code of a function of the examples.
func function(t *testing.T, name string) string {
	t.Helper()
	return "func " + name + "(" + between(t, text(t, "example_test.go"), "\nfunc "+name+"(", "\n}\n") + "\n}\n"
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
