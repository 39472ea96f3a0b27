package schedule

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
)

// The tables of docs/commands.md say when schedules start on days on which clocks change.
func TestClockChanges(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands.md")
	must(t, err)
	var days [][]string // zone and date of each column
	checked := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		switch {
		case strings.Contains(line, "Europe/Berlin 20"):
			days = nil
			for _, c := range cells[len(cells)-8:] {
				days = append(days, strings.Fields(c))
			}
		case len(cells) != 9 || days == nil || !strings.HasPrefix(cells[0], "`"):
		default:
			for i, want := range cells[1:] {
				if got := startsOn(t, strings.Trim(cells[0], "`"), days[i][0], days[i][1]); got != want {
					t.Errorf("%s on %v starts at %s, not %s", cells[0], days[i], got, want)
				}
				checked++
			}
		}
	}
	if checked != 2*8*12 {
		t.Errorf("%d cells were read", checked)
	}
}

func startsOn(t *testing.T, cron, zone, day string) string {
	s := Schedule{Cron: cron, Zone: zone}
	must(t, s.Check())
	where, err := time.LoadLocation(zone)
	must(t, err)
	utc, err := time.Parse(time.DateOnly, day)
	must(t, err)
	var all []string
	for at := s.times.Next(utc.Add(-50 * time.Hour)); at.Before(utc.Add(50 * time.Hour)); at = s.times.Next(at) {
		if wall := at.In(where).Format("2006-01-02 15:04-0700"); strings.HasPrefix(wall, day) {
			all = append(all, wall[len(day)+1:])
		}
	}
	switch {
	case len(all) == 0:
		return "–"
	case len(all) > 4:
		return fmt.Sprintf("%d starts", len(all))
	}
	return strings.Join(all, ", ")
}

// A clock that was ahead and is put back loses no start: the next time is the next by the clock now.
func TestClockIsPutBack(t *testing.T) {
	s := Schedule{Cron: "0 6 * * *"}
	must(t, s.Check())
	ahead := time.Date(2031, 5, 5, 5, 0, 0, 0, time.UTC)
	now := ahead.AddDate(-5, 0, 0)
	p := plan{next: s.times.Next(ahead), due: ahead}
	p.advance(&s, ahead)
	if p.advance(&s, now); !p.next.Equal(now.Add(time.Hour)) || !p.due.IsZero() {
		t.Errorf("put back to %s: %+v", now, p)
	}
	if p.advance(&s, now.Add(time.Hour)); !p.due.Equal(now.Add(time.Hour)) {
		t.Errorf("an hour later: %+v", p)
	}
}

var must = fatal.IfError
