package lines

import (
	"errors"
	"strings"
	"testing"
)

// A line may have as many bytes as the limit says, without its end.
func TestLinesHaveALimit(t *testing.T) {
	for text, want := range map[string]error{"1234": nil, "12345": ErrLong} {
		in := NewReader(strings.NewReader(text+"\n{}\n"), 4)
		if _, err := in.Next(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		if line, err := in.Next(); string(line) != "{}\n" || err != nil {
			t.Errorf("the next line is %q, %v", line, err)
		}
	}
}
