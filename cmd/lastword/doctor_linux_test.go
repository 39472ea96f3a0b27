package main

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

func TestDoctorOnATerminal(t *testing.T) {
	s := start(t, []string{"LASTWORD_BASE_URL=http://127.0.0.1:1/v1"}, "lastword", "doctor")
	s.ends(exit.Completed)
	if text := s.screen.Text(); !strings.Contains(text, "a run is shown in place, in colour") {
		t.Errorf("the terminal shows\n%s", text)
	}
	if raw := s.raw.String(); !strings.Contains(raw, "\x1b[32mPASS\x1b[0m  version") {
		t.Errorf("the terminal is told\n%q", raw)
	}
}
