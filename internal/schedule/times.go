package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// times says when a schedule starts.
type times interface {
	// Next returns the first time after t, or zero if there is none.
	Next(t time.Time) time.Time
}

// every yields the multiples of an interval, so that all nodes have the same times.
type every time.Duration

func (e every) Next(t time.Time) time.Time { return t.Truncate(time.Duration(e)).Add(time.Duration(e)) }

// calendar is a cron expression in a time zone.
type calendar struct {
	*cron.SpecSchedule
	// elapsed says that minute or hour has a * or a /. Such a schedule starts at each instant at which the clock on the
	// wall matches. The others start once for each time on the wall: see first.
	elapsed bool
}

// furthest is how many days Next searches: 29 February may be eight years away.
const furthest = 8*366 + 2

// isElapsed reports whether minute or hour of the expression has a * or a /.
func isElapsed(expression string) bool {
	fields := strings.Fields(expression)
	return expression == "@hourly" || len(fields) > 1 && strings.ContainsAny(fields[0]+fields[1], "*/?")
}

func (c calendar) Next(t time.Time) time.Time {
	if c.elapsed {
		return c.nextInstant(t).In(c.Location)
	}
	return c.nextTime(t).In(c.Location)
}

// nextTime returns the first instant after t at which a time on the wall begins that matches. It counts the days and
// times as if no clock was ever changed.
func (c calendar) nextTime(t time.Time) time.Time {
	year, month, day := t.In(c.Location).Date()
	for d := -1; d < furthest; d++ { // a change at midnight may have delayed times of the day before
		date := time.Date(year, month, day+d, 0, 0, 0, 0, time.UTC)
		if !c.hasDay(date) || first(date, c.Location).Equal(first(date.AddDate(0, 0, 1), c.Location)) {
			continue // a zone leaves this day out when it crosses the date line
		}
		for minute := range 24 * 60 {
			if c.Hour>>(minute/60)&1 == 0 || c.Minute>>(minute%60)&1 == 0 {
				continue
			}
			if when := first(date.Add(time.Duration(minute)*time.Minute), c.Location); when.After(t) {
				return when
			}
		}
	}
	return time.Time{}
}

// first returns the first instant at which the clock on the zone's wall shows the time or a later one. So the end of a
// gap stands for all that a change leaves out, and the first pass for what it repeats.
func first(wall time.Time, zone *time.Location) time.Time {
	when := wall.Add(-24 * time.Hour).In(zone) // no zone is a day from UTC
	for {
		_, offset := when.Zone()
		_, end := when.ZoneBounds()
		shows := wall.Add(-time.Duration(offset) * time.Second)
		if end.IsZero() || shows.Before(end) {
			if shows.Before(when) { // the zone's clock was put forward beyond it
				shows = when
			}
			return shows.UTC()
		}
		when = end
	}
}

// nextInstant returns the first whole minute after t at which the clock on the wall matches.
func (c calendar) nextInstant(t time.Time) time.Time {
	when := t.Truncate(time.Minute).Add(time.Minute).In(c.Location)
	for until := when.AddDate(0, 0, furthest); when.Before(until); {
		hour, minute, second := when.Clock()
		past := time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
		step := time.Minute - time.Duration(second)*time.Second
		switch {
		case !c.hasDay(when):
			step = 24*time.Hour - time.Duration(hour)*time.Hour - past
		case c.Hour>>hour&1 == 0:
			step = time.Hour - past
		case c.Minute>>minute&1 == 1 && second == 0:
			return when.UTC()
		}
		next := when.Add(step)
		if _, end := when.ZoneBounds(); !end.IsZero() && end.Before(next) { // the wall may show an earlier time from there on
			next = end
		}
		when = next
	}
	return time.Time{}
}

// star is the bit of a field that was written as *.
const star = 1 << 63

// hasDay reports whether the schedule starts on the day. If neither day nor weekday is *, one of them must match.
func (c calendar) hasDay(t time.Time) bool {
	day, weekday := c.Dom>>t.Day()&1 == 1, c.Dow>>t.Weekday()&1 == 1
	switch {
	case c.Month>>t.Month()&1 == 0:
		return false
	case c.Dom&star != 0 || c.Dow&star != 0:
		return day && weekday
	}
	return day || weekday
}
