package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// store is what all nodes share: marks, and runs by their keys.
type store struct {
	mu    sync.Mutex
	marks map[string]string
	saves int
	keys  []string
	ended map[messages.RunID]bool
	fail  error         // of submit
	slow  time.Duration // how long a submit takes
}

func (s *store) node(t *testing.T, all ...schedule.Schedule) (*schedule.Clock, func()) {
	t.Helper()
	for i := range all {
		fatal.IfError(t, all[i].Check())
	}
	c := &schedule.Clock{Config: schedule.Config{Schedules: all, Log: zap.NewNop(), Submit: s.submit, State: s.state,
		Load: func(context.Context) (schedule.Marks, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			m := schedule.Marks{}
			for name, text := range s.marks {
				one := m[name]
				if err := json.Unmarshal([]byte(text), &one); err != nil {
					return nil, err
				}
				one.Was = text
				m[name] = one
			}
			return m, nil
		},
		Save: func(_ context.Context, m schedule.Marks) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.saves++
			rows := map[string]string{}
			for name, one := range m {
				text, err := json.Marshal(one)
				if err != nil {
					return err
				}
				if string(text) == one.Was {
					continue
				}
				if rows[name] = string(text); one.Was != s.marks[name] {
					return messages.Errorf(messages.CodeConflict, "another was first")
				}
			}
			maps.Copy(s.marks, rows)
			return nil
		}}}
	if s.marks == nil {
		s.marks = map[string]string{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	return c, func() { cancel(); running.Wait() }
}

// submit starts a run: one per key.
func (s *store) submit(_ context.Context, q messages.Request) (messages.RunID, error) {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil && !slices.Contains(s.keys, q.Key) {
		s.keys = append(s.keys, q.Key)
	}
	return messages.RunID(q.Key), s.fail
}

func (s *store) state(_ context.Context, id messages.RunID) (messages.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil || s.ended[id] {
		return messages.State{Status: messages.Completed}, nil
	}
	return messages.State{Status: messages.Processing}, nil
}

// times are when runs were started, without what their keys have in common.
func (s *store) times() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.keys {
		_, at, _ := strings.Cut(key, "it ")
		all = append(all, strings.TrimPrefix(strings.TrimSuffix(at, ":00Z"), "2000-01-"))
	}
	return all
}

func (s *store) want(t *testing.T, times ...string) {
	t.Helper()
	synctest.Wait()
	if got := s.times(); !slices.Equal(got, times) {
		t.Errorf("started at %q, not %q", got, times)
	}
}

// set changes what the store does.
func (s *store) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// line is the only schedule of nobody.
func line(t *testing.T, c *schedule.Clock) schedule.Line {
	t.Helper()
	lines, err := c.List(t.Context(), "")
	if err != nil || len(lines) != 1 {
		t.Fatalf("%v: %+v", err, lines)
	}
	return lines[0]
}

func hourly(change func(*schedule.Schedule)) schedule.Schedule {
	s := schedule.Schedule{Name: "it", Job: "test", Every: schedule.Duration(time.Hour)}
	if change != nil {
		change(&s)
	}
	return s
}

// The bubble's time begins at midnight of 2000-01-01, UTC.
func TestCronHeedsItsZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s store
		_, stop := s.node(t, schedule.Schedule{Name: "it", Job: "test", Cron: "30 6 * * 1-5", Zone: "America/New_York"})
		time.Sleep(4 * 24 * time.Hour) // from a Saturday on
		s.want(t, "03T11:30", "04T11:30")
		stop()
	})
}

func TestMissedTimesAreStartedAsTold(t *testing.T) {
	for missed, want := range map[string][]string{
		"never": {"01T01:00", "01T06:00"},
		"once":  {"01T01:00", "01T05:00", "01T06:00"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var s store
			it := hourly(func(s *schedule.Schedule) { s.Missed = missed })
			_, stop := s.node(t, it)
			time.Sleep(90 * time.Minute)
			stop()
			time.Sleep(4 * time.Hour)
			_, stop = s.node(t, it)
			time.Sleep(time.Hour)
			s.want(t, want...)
			stop()
		})
	}
}

func TestOverlapIsSkippedOrQueued(t *testing.T) {
	for overlap, want := range map[string][]string{
		"skip":  {"01T01:00", "01T05:00"},
		"queue": {"01T01:00", "01T04:00"}, // what waited is the last of those that were due
	} {
		synctest.Test(t, func(t *testing.T) {
			s := store{ended: map[messages.RunID]bool{}}
			_, stop := s.node(t, hourly(func(s *schedule.Schedule) { s.Overlap = overlap }))
			time.Sleep(4*time.Hour + 30*time.Minute)
			s.want(t, "01T01:00")
			c, restop := s.node(t, hourly(func(s *schedule.Schedule) { s.Overlap = overlap })) // a queued start outlives its server
			if l := line(t, c); l.Dropped != map[string]int{"skip": 3, "queue": 2}[overlap] || !strings.Contains(l.Note, "goes on") {
				t.Errorf("%+v", l)
			}
			stop()
			s.set(func() { s.ended["schedule it 2000-01-01T01:00:00Z"] = true })
			time.Sleep(time.Hour)
			s.want(t, want...)
			restop()
		})
	}
}

// "A refused start is tried again until the next time comes, and shown." "Times that started nothing are counted."
func TestARefusedStartIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s store
		c, stop := s.node(t, hourly(nil))
		defer stop()
		time.Sleep(30 * time.Minute)
		s.set(func() { s.fail = errors.New("boom") })
		time.Sleep(2 * time.Hour)
		if l := line(t, c); l.Dropped != 1 || !strings.Contains(l.Note, "boom") || !l.Waiting.Equal(time.Now().Truncate(time.Hour)) {
			t.Errorf("%+v", l)
		}
		s.set(func() { s.fail = nil })
		time.Sleep(2 * time.Minute)
		s.want(t, "01T02:00")
		if l := line(t, c); l.Dropped != 1 || l.Note != "" || !l.Waiting.IsZero() {
			t.Errorf("%+v", l)
		}
	})
}

func TestMarkInTheFutureIsToldAndIgnored(t *testing.T) {
	for _, mark := range []string{`{"last":"2001-01-01T00:00:00Z"}`, `{"last":"1999-12-31T23:00:00Z","waiting":"2001-01-01T00:00:00Z","note":"it waits"}`} {
		synctest.Test(t, func(t *testing.T) {
			s := store{marks: map[string]string{"it": mark}}
			c, stop := s.node(t, hourly(nil))
			defer stop()
			if l := line(t, c); !strings.Contains(l.Note, "future") {
				t.Errorf("%+v", l)
			}
			time.Sleep(2*time.Hour + time.Minute)
			s.want(t, "01T01:00", "01T02:00")
			if l := line(t, c); strings.Contains(l.Note, "future") || !l.Waiting.IsZero() {
				t.Errorf("%+v", l)
			}
		})
	}
}

// Starts do not wait for each other, and their marks are kept at once.
func TestManyStartInTheSameSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store{slow: 5 * time.Millisecond}
		var all []schedule.Schedule
		for i := range 2000 {
			all = append(all, schedule.Schedule{Name: strconv.Itoa(i), Job: "test", Every: schedule.Duration(5 * time.Second)})
		}
		_, stop := s.node(t, all...)
		defer stop()
		time.Sleep(11 * time.Second)
		s.set(func() {
			if len(s.keys) != 4000 || s.saves != 3 { // the first says when the schedules began
				t.Errorf("%d starts, %d saves", len(s.keys), s.saves)
			}
		})
	})
}

// Callers see to their own schedules.
func TestSchedulesArePausedAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s store
		c, stop := s.node(t, hourly(nil), schedule.Schedule{Name: "other", Job: "test", Cron: "@daily", Principal: "ann"})
		defer stop()
		do := func(action, name string) ([]schedule.Line, error) {
			return c.Operate(t.Context(), "", schedule.Order{Action: action, Name: name})
		}
		if lines, err := do("pause", "it"); err != nil || len(lines) != 1 || !lines[0].Paused {
			t.Fatalf("%v: %+v", err, lines)
		}
		time.Sleep(2*time.Hour + time.Minute)
		s.want(t)
		if lines, err := do("run", "it"); err != nil || lines[0].Run == "" || len(s.times()) != 1 {
			t.Errorf("%v: %+v", err, lines)
		}
		if lines, err := do("resume", "it"); err != nil || lines[0].Paused || !lines[0].Next.Equal(time.Now().Truncate(time.Hour).Add(time.Hour)) {
			t.Errorf("%v: %+v", err, lines)
		}
		if lines, err := do("ls", ""); err != nil || len(lines) != 1 || lines[0].When != "every 1h0m0s" {
			t.Errorf("%v: %+v", err, lines)
		}
		if _, err := do("pause", "other"); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("another's schedule was paused: %v", err)
		}
		time.Sleep(time.Hour)
		if got := s.times(); len(got) != 2 {
			t.Errorf("started at %q", got)
		}
	})
}

func TestWrongTimesAreRefused(t *testing.T) {
	for want, s := range map[string]schedule.Schedule{
		"one of every and cron": {},
		"at least 1s":           {Every: 1},
		"no time zone":          {Cron: "@daily", Zone: "Mars/Olympus"},
		"is no time":            {Cron: "6 o'clock"},
		"never comes":           {Cron: "0 0 30 2 *"},
		"in place of this cron": {Cron: "@every 5m"},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
