package llm

import "testing"

func TestCount(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "7.0": 7, `"7"`: 7, "1e3": 1000, "-1": 0, "null": 0, `"x"`: 0, "1e300": 0, "NaN": 0, "": 0} {
		if got := count([]byte(text)); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}
