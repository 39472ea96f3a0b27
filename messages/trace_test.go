package messages_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// A trace that W3C Trace Context calls invalid is none, and what is given on has the caller's flags and tracestate.
func TestTraces(t *testing.T) {
	const trace, caller, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "53995c3f42cd8ad8"
	for text, want := range map[string]string{
		"00-" + trace + "-" + caller + "-00":                  "00-" + trace + "-" + span + "-00",
		"00-" + trace + "-" + caller + "-01":                  "00-" + trace + "-" + span + "-01",
		"01-" + trace + "-" + caller + "-03-more":             "00-" + trace + "-" + span + "-03",
		"00-" + trace + "-" + caller + "-01-more":             "",
		"ff-" + trace + "-" + caller + "-01":                  "",
		"00-" + strings.ToUpper(trace) + "-" + caller + "-01": "",
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": "",
		"00-" + trace + "-" + caller + "-1":                   "",
		"00-" + trace + "-" + caller:                          "",
		"":                                                    "",
	} {
		for state, kept := range map[string]string{"a=1,b=2": "a=1,b=2", "a=\n": "", strings.Repeat("a", 513): ""} {
			got := messages.ReadTrace(func(name string) string {
				return map[string]string{messages.TraceLabel: text, messages.TraceStateLabel: state}[name]
			}).Below(span)
			if want == "" {
				kept = ""
			}
			if got.Parent != want || got.State != kept || want != "" && got.Sampled() == strings.HasSuffix(want, "0") {
				t.Errorf("%q with %q is given on as %+v, want %q", text, state, got, want)
			}
		}
	}
}
