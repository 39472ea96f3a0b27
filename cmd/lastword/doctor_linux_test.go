package main

import (
	"strings"
	"testing"
)

func TestDoctorOnATerminal(t *testing.T) {
	s := start(t, []string{"LASTWORD_BASE_URL=http://127.0.0.1:1/v1"}, "lastword", "doctor")
	s.ends(exitCompleted)
	if text := s.screen.text(); !strings.Contains(text, "a run is shown in place, in colour") {
		t.Errorf("the terminal shows\n%s", text)
	}
	if raw := s.raw.String(); !strings.Contains(raw, "\x1b[32mPASS\x1b[0m  version") {
		t.Errorf("the terminal is told\n%q", raw)
	}
}
