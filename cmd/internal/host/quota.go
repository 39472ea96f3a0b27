package host

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// remeasure is how long the measured size of a folder is used, plus what is written in the meantime. Files may also be
// removed.
const remeasure = 10 * time.Second

// quota limits the size of each caller's files below the output folder. mu guards byHome.
type quota struct {
	out   string
	limit int64 // 0 means no limit

	mu     sync.Mutex
	byHome map[string]*usage
}

// usage is the size of a caller's folder when it was measured, plus what was written since.
type usage struct {
	bytes    int64
	measured time.Time
}

// take counts bytes that a run writes below home. Errors: limit_exceeded.
func (q *quota) take(home string, bytes int64) error {
	if q.limit == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.byHome[home]
	if u == nil || time.Since(u.measured) > remeasure {
		u = &usage{sizeOf(filepath.Join(q.out, home)), time.Now()}
		if q.byHome == nil {
			q.byHome = map[string]*usage{}
		}
		q.byHome[home] = u
	}
	if u.bytes+bytes > q.limit {
		return messages.LimitExceeded("your files on this server would take more than "+
			"%d bytes; ask its operator to remove some, or to raise serve --max-out-each", q.limit)
	}
	u.bytes += bytes
	return nil
}

// sizeOf returns the total size of the files below the folder. It ignores what cannot be read.
func sizeOf(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// spending bounds the model tokens that each principal's runs use per UTC day. All servers of a journal draw on one
// count. A day that has begun at one of them does not end when a clock is behind by less than a day. mu guards the fields
// below it.
type spending struct {
	limit int64 // 0 means no limit
	drawn *marks[dayCount]
	now   func() time.Time

	mu   sync.Mutex
	day  time.Time // beginning of the day
	each map[string]*share
}

// dayCount says what the servers have drawn of each principal's tokens of a day.
type dayCount struct {
	Day   time.Time        `json:"day"`
	Drawn map[string]int64 `json:"drawn"`
}

// share is what this server has drawn for a principal, what of that was used, and what calls that have not ended may use.
type share struct{ drawn, used, bound int64 }

const (
	// day is the time after which the count of tokens begins anew.
	day = 24 * time.Hour
	// mostTokens bounds a sum of tokens, which then cannot overflow.
	mostTokens = 1 << 53
	// drawTime is how long a server tries to draw.
	drawTime = 10 * time.Second
)

func (c *catalog) newSpending() *spending {
	return &spending{limit: c.TokensPerDay, drawn: newMarks[dayCount](c, "spending.json"), now: time.Now}
}

// ask binds the tokens that a call may use until ended is called; 0 asks for the start of a run. If the server has nothing
// left for the principal it draws more. Errors: limit_exceeded for a start and budget for a call, if the day's tokens are
// used.
func (s *spending) ask(ctx context.Context, principal string, tokens int64) (ended func(), err error) {
	tokens = min(max(tokens, 0), mostTokens)
	for {
		short, in := s.bind(principal, tokens)
		if short < 0 {
			return sync.OnceFunc(func() { s.change(func() { in.bound -= tokens }) }), nil
		}
		got, err := s.draw(ctx, principal, short)
		switch {
		case err != nil:
			return nil, err
		case got == 0:
			return nil, s.refusal(tokens)
		}
	}
}

// bind binds the tokens, unless nothing is left: then short is what lacks, from 0.
func (s *spending) bind(principal string, tokens int64) (short int64, in *share) {
	s.change(func() {
		in = s.of(principal)
		if short = in.used + in.bound - in.drawn; short < 0 {
			in.bound += tokens
		}
	})
	return short, in
}

// draw takes what lacks from what all servers share, and some more: an eighth of the rest, or a sixteenth of the limit. It
// returns 0 if nothing is left. A draw on a day that ends meanwhile gives nothing to the next.
func (s *spending) draw(ctx context.Context, principal string, short int64) (got int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	var of time.Time
	s.change(func() { of = s.day })
	err = s.drawn.change(ctx, func(all *dayCount) error {
		if of = reckoned(of, all.Day); !all.Day.Equal(of) {
			*all = dayCount{Day: of, Drawn: map[string]int64{}}
		}
		left := s.limit - all.Drawn[principal]
		if got = min(left, short+max(left/8, s.limit/16, 1)); got > 0 {
			all.Drawn[principal] += got
		}
		return nil
	})
	if got = max(got, 0); err != nil {
		return 0, err
	}
	s.change(func() {
		if of.After(s.day) {
			s.turn(of)
		}
		if of.Equal(s.day) {
			s.of(principal).drawn += got
		}
	})
	return got, nil
}

// spent counts the tokens of a call that has ended.
func (s *spending) spent(principal string, tokens int64) {
	s.change(func() {
		if in := s.of(principal); in.used < mostTokens {
			in.used += min(max(tokens, 0), mostTokens)
		}
	})
}

// days returns what is left today: of the principal, or of all others who have used some, too. A draw between its two looks
// makes it less.
func (s *spending) days(ctx context.Context, principal string, all bool) (list []messages.DayTokens, err error) {
	held, names, today := map[string]int64{}, []string{principal}, time.Time{}
	s.change(func() {
		today = s.day
		for name, in := range s.each {
			held[name] = in.drawn - in.used - in.bound
		}
	})
	ctx, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	drawn, err := s.drawn.load(ctx)
	if err != nil {
		return nil, err
	}
	if begun := reckoned(today, drawn.Day); !begun.Equal(today) {
		today, held = begun, nil
	}
	if !drawn.Day.Equal(today) {
		drawn.Drawn = nil
	}
	if all {
		names = slices.Collect(maps.Keys(drawn.Drawn))
		if slices.Sort(names); !slices.Contains(names, principal) {
			names = append(names, principal)
		}
	}
	for _, name := range names {
		list = append(list, messages.DayTokens{Principal: name, Day: today.Format(time.DateOnly), Ceiling: s.limit,
			Drawn: drawn.Drawn[name], Left: min(max(s.limit-drawn.Drawn[name]+held[name], 0), s.limit)})
	}
	return list, nil
}

// left is days as metrics: what is left, by the principal who has used some. It has nothing if the store does not answer.
func (s *spending) left() map[string]float64 {
	each := map[string]float64{}
	if s.limit > 0 {
		list, _ := s.days(context.Background(), "", true)
		for _, of := range list {
			if of.Drawn > 0 {
				each[of.Principal] = float64(of.Left)
			}
		}
	}
	return each
}

// giveBack returns what was drawn today and not used.
func (s *spending) giveBack(ctx context.Context) error {
	rest, of := map[string]int64{}, time.Time{}
	s.change(func() {
		for principal, in := range s.each {
			if in.drawn > in.used {
				rest[principal] = in.drawn - in.used
			}
		}
		s.each, of = nil, s.day
	})
	if len(rest) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, drawTime)
	defer cancel()
	return s.drawn.change(ctx, func(all *dayCount) error {
		for principal, tokens := range rest {
			if all.Day.Equal(of) {
				all.Drawn[principal] -= tokens
			}
		}
		return nil
	})
}

// change calls f with mu held, after the turn of the day.
func (s *spending) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(reckoned(s.now().UTC().Truncate(day), s.day))
	f()
}

// reckoned returns the day to which a call belongs: the day of this clock, or the next one if it has begun at a server whose
// clock is ahead.
func reckoned(clock, begun time.Time) time.Time {
	if begun.Equal(clock.Add(day)) {
		return begun
	}
	return clock
}

// turn begins a day. Calls that have not ended stay bound, because they count when they end. mu must be held.
func (s *spending) turn(to time.Time) {
	if to.Equal(s.day) {
		return
	}
	s.day = to
	for principal, in := range s.each {
		if in.drawn, in.used = 0, 0; in.bound == 0 {
			delete(s.each, principal)
		}
	}
}

// of returns the principal's share. mu must be held.
func (s *spending) of(principal string) *share {
	if s.each == nil {
		s.each = map[string]*share{}
	}
	if s.each[principal] == nil {
		s.each[principal] = &share{}
	}
	return s.each[principal]
}

// refusal says that the day's tokens are used: for the start of a run, or for a call.
func (s *spending) refusal(tokens int64) error {
	var ends time.Time
	s.change(func() { ends = s.day.Add(day) })
	err := messages.LimitExceeded("your runs have used the %d tokens of models that a caller has a day; start again after %s, "+
		"or ask the operator to raise serve --model-tokens-per-day", s.limit, ends.Format("2006-01-02 15:04 UTC"))
	if tokens > 0 {
		err.Code = messages.CodeBudget
		return err
	}
	return auth.RetryAfter(ends.Sub(s.now()), err)
}
