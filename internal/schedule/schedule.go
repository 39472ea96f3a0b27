package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seed889630bf/lastword/messages"
)

// Duration is a duration such as 90s or 10m.
type Duration = messages.Duration

// Values of Overlap, for a time at which the run before has not ended, and of Missed, for times at which no node ran.
const (
	skip  = "skip"
	queue = "queue"
	once  = "once"
	never = "never"
)

// Schedule says when to start a job.
type Schedule struct {
	Name  string          `json:"name"`
	Job   string          `json:"job"`
	Input json.RawMessage `json:"input"`
	// Principal owns the schedule and its runs.
	Principal string `json:"principal"`
	// Every is the interval between starts. Cron has five fields, or is a word such as @daily.
	Every Duration `json:"every"`
	Cron  string   `json:"cron"`
	// Zone is the time zone of Cron; "" means UTC.
	Zone    string `json:"zone"`
	Overlap string `json:"overlap"` // "" means Skip
	Missed  string `json:"missed"`  // "" means Never

	times times
}

// shortest is the shortest interval between starts.
const shortest = time.Second

// Check parses the times. Its error says what is wrong with them.
func (s *Schedule) Check() error {
	switch {
	case (s.Every != 0) == (s.Cron != ""):
		return errors.New("give one of every and cron")
	case s.Every != 0 && time.Duration(s.Every) < shortest:
		return fmt.Errorf("every must be at least %v", shortest)
	case s.Every != 0 && s.Zone != "":
		return errors.New("zone goes with cron")
	case s.Every != 0:
		s.times = every(s.Every)
		return nil
	case strings.HasPrefix(s.Cron, "@every"), strings.Contains(s.Cron, "TZ="):
		return errors.New("write every or zone in place of this cron")
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return fmt.Errorf("there is no time zone %q: write one such as Europe/Berlin", s.Zone)
	}
	read, err := cron.ParseStandard(s.Cron)
	if err != nil {
		return fmt.Errorf("%q is no time: %w", s.Cron, err)
	}
	spec := read.(*cron.SpecSchedule) // all of them except @every
	spec.Location = zone
	s.times = calendar{spec, isElapsed(s.Cron)}
	if s.times.Next(time.Now()).IsZero() {
		return fmt.Errorf("%q never comes", s.Cron)
	}
	return nil
}

// mostPassed bounds how many times passed counts.
const mostPassed = 1_000_000

// passed returns how many times are after from and not after until, and the last of them.
func (s *Schedule) passed(from, until time.Time) (n int, last time.Time) {
	for ; n < mostPassed; n++ {
		next := s.times.Next(from)
		if next.IsZero() || next.After(until) {
			break
		}
		last, from = next, next
	}
	return n, last
}

// when describes the times in words.
func (s *Schedule) when() string {
	if s.Every != 0 {
		return "every " + time.Duration(s.Every).String()
	}
	return strings.TrimSpace(s.Cron + " " + s.Zone)
}
