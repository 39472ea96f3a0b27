package host

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// spend is a job that calls a model: if it is told so, after so much time in a sub-run.
func spend(ctx context.Context, t *actors.TaskContext, below time.Duration) (string, error) {
	if below > 0 {
		time.Sleep(below)
		job, err := actors.Func("spend", spend).New([]byte("0"))
		if err != nil {
			return "", err
		}
		run, err := t.Start(ctx, job, actors.Options{})
		if err == nil {
			_, err = run.Wait(ctx)
		}
		return "", err
	}
	allowed, err := t.AskModel(messages.LLMStarted{Call: "m1", Model: "tiny"}, "", 7, 5)
	if err != nil {
		return "", err
	}
	if allowed.Ended != nil {
		defer allowed.Ended()
	}
	return "", t.Emit(messages.LLMCompleted{Call: "m1", Model: "tiny", Evidence: "done-marker", Verdict: "completed",
		Usage: &messages.Usage{PromptTokens: new(int64(7)), CompletionTokens: new(int64(5))}}, "")
}

// A principal who has used the day's tokens, in sub-runs too, starts no run before the next day. Others do, and a key
// finds the run that it started.
func TestTokensOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is midnight
		time.Sleep(22 * time.Hour)
		c := (&Checked{Flags: Flags{program: &Program{}}}).newCatalog(nil, &store.Store{})
		tokens := c.newSpending()
		tokens.limit = 20
		config := c.systemConfig(tokens)
		metrics := c.newObserver(func() actors.Stats { return actors.Stats{} }, zero, zero, tokens.left)
		defer metrics.Close()
		config.Jobs, config.Observe = []actors.Definition{actors.Func("spend", spend)}, metrics.Observe
		system := faultplan.Open(t, config)
		start := func(principal, input, key string) error {
			_, err := system.Submit(t.Context(), messages.Request{Job: "spend", Input: []byte(input), Principal: principal, Key: key})
			time.Sleep(time.Minute)
			return err
		}
		for _, input := range []string{"0", "1"} {
			must(t, start("mia", input, input))
		}
		err := start("mia", "0", "")
		if err == nil {
			t.Fatal("a run begins after 24 tokens of 20")
		}
		answer := httptest.NewRecorder()
		auth.Refuse(answer, err)
		if answer.Code != 429 || answer.Header().Get("Retry-After") != "7080" ||
			!strings.Contains(answer.Body.String(), "after 2000-01-02 00:00 UTC") {
			t.Errorf("%d %v %s", answer.Code, answer.Header(), answer.Body)
		}
		if err := start("mia", "1", "1"); err != nil {
			t.Errorf("a run that its key finds: %v", err)
		}
		if err := start("bob", "0", ""); err != nil {
			t.Errorf("another caller: %v", err)
		}
		read := httptest.NewRecorder()
		metrics.ServeHTTP(read, httptest.NewRequest("GET", "/metrics", nil))
		for _, want := range []string{`lastword_model_tokens_total{direction="read",principal="mia"} 14`,
			`lastword_model_tokens_left{principal="mia"} 0`, `lastword_model_tokens_left{principal="bob"} 8`} {
			if !strings.Contains(read.Body.String(), want+"\n") {
				t.Errorf("%s is not in %s", want, read.Body)
			}
		}
		list, err := tokens.days(t.Context(), "eve", false)
		if len(list) != 1 || list[0] != (messages.DayTokens{Principal: "eve", Day: "2000-01-01", Ceiling: 20, Left: 20}) {
			t.Errorf("who has used nothing: %+v, %v", list, err)
		}
		time.Sleep(113 * time.Minute)
		must(t, start("bob", strconv.Itoa(int(4*time.Minute)), "")) // its sub-run begins after midnight
		time.Sleep(time.Hour)
		if err := start("mia", "0", ""); err != nil {
			t.Errorf("the next day: %v", err)
		}
		list, err = tokens.days(t.Context(), "bob", false)
		if len(list) != 1 || list[0].Day != "2000-01-02" || list[0].Left != 8 {
			t.Errorf("whose sub-run spends the next day: %+v, %v", list, err)
		}
	})
}

// "two servers of one journal hold one ceiling, up to one call each; a server that stops gives back what it has drawn"
func TestTokensOfTwoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, call = 100_000, 3000
		s, ctx, used := shared(""), t.Context(), 0
		server := func() *spending {
			return &spending{limit: limit, drawn: &marks[dayCount]{stateFile: stateFile{store: s, name: "spending.json"}}, now: time.Now}
		}
		spend := func(on *spending) error {
			ended, err := on.ask(ctx, "mia", call/2) // the call takes more than was estimated
			if err == nil {
				used += call
				on.spent("mia", call)
				ended()
			}
			return err
		}
		first, second := server(), server()
		must(t, spend(first))
		must(t, first.giveBack(ctx))
		first = server()
		for refused := 0; refused < 2; {
			refused = 0
			for _, on := range []*spending{first, second} {
				if err := spend(on); messages.CodeOf(err) == messages.CodeBudget {
					refused++
				} else if must(t, err); used > limit+2*call {
					t.Fatalf("%d tokens of %d are used", used, limit)
				}
			}
		}
		if used < limit {
			t.Errorf("a call is refused after %d tokens of %d", used, limit)
		}
		if _, err := second.ask(ctx, "mia", 0); messages.CodeOf(err) != messages.CauseLimitExceeded {
			t.Errorf("a start after the last token: %v", err)
		}
		time.Sleep(day)
		must(t, spend(second))
	})
}

// Over midnight each token counts once, on the day when its call ends, and no day grants more than the limit: also if the
// clocks of two servers disagree, or one is put back.
func TestTokensOverMidnight(t *testing.T) {
	const limit = 1600
	type server struct {
		*spending
		ahead time.Duration // of midnight
	}
	call := func(t *testing.T, on *server, tokens int64) (end func()) {
		ended, err := on.ask(t.Context(), "mia", tokens)
		must(t, err)
		return func() {
			on.spent("mia", tokens)
			ended()
		}
	}
	rest := func(t *testing.T, on *server, day string) (left int64) {
		list, err := on.days(t.Context(), "mia", false)
		if must(t, err); list[0].Day != day {
			t.Errorf("the day is %s, not %s", list[0].Day, day)
		}
		return list[0].Left
	}
	useUp := func(t *testing.T, most int64, all ...*server) (used int64) {
		for _, on := range all {
			for {
				ended, err := on.ask(t.Context(), "mia", 100)
				if messages.CodeOf(err) == messages.CodeBudget {
					break
				}
				must(t, err)
				on.spent("mia", 100)
				ended()
				if used += 100; used > most {
					t.Fatalf("%d tokens of a day that has %d", used, most)
				}
			}
		}
		return used
	}
	for name, check := range map[string]func(t *testing.T, a, b *server){
		"a call spans it": func(t *testing.T, a, _ *server) {
			a.ahead = -time.Minute
			end := call(t, a, 400)
			a.ahead = time.Minute
			if useUp(t, limit-300, a) < limit-400 { // what it binds stays bound
				t.Error("a call is refused too early")
			}
			end()
			if left := rest(t, a, "2000-01-02"); left > 100 {
				t.Errorf("%d are left", left)
			}
		},
		"a refill after it": func(t *testing.T, a, _ *server) {
			a.ahead = -time.Minute
			useUp(t, limit, a)
			a.ahead = 0
			if useUp(t, limit, a) != limit {
				t.Error("a call of the new day is refused")
			}
		},
		"a refill during it": func(t *testing.T, a, _ *server) {
			a.ahead = -time.Minute
			get := a.drawn.store.Get
			a.drawn.store.Get = func(ctx context.Context, name string) ([]byte, uint64, error) {
				a.ahead = time.Minute
				return get(ctx, name)
			}
			call(t, a, 100)()
			if used := useUp(t, limit-100, a); used != limit-100 || rest(t, a, "2000-01-02") != 0 {
				t.Errorf("%d of the new day's tokens are used", used+100)
			}
		},
		"clocks that disagree": func(t *testing.T, a, b *server) {
			a.ahead, b.ahead = time.Second/2, -time.Second/2
			var used int64
			for range 5 { // they take turns
				call(t, a, 100)()
				call(t, b, 100)()
				used += 200
			}
			if left := rest(t, b, "2000-01-02"); left > limit-used {
				t.Errorf("%d are left after %d", left, used)
			}
			b.ahead = time.Second / 2
			useUp(t, limit-used+100, a, b)
		},
		"a clock that is put back": func(t *testing.T, a, _ *server) {
			a.ahead = time.Minute
			useUp(t, limit, a)
			a.ahead = -time.Minute
			useUp(t, 0, a)
			_, err := a.ask(t.Context(), "mia", 0)
			answer := httptest.NewRecorder()
			auth.Refuse(answer, err)
			if answer.Header().Get("Retry-After") != "86460" || !strings.Contains(answer.Body.String(), "after 2000-01-03 00:00 UTC") {
				t.Errorf("%v %s", answer.Header(), answer.Body)
			}
		},
		"a clock that was wrong by a year": func(t *testing.T, a, b *server) {
			a.ahead = 365 * day
			useUp(t, limit, a)
			a.ahead, b.ahead = time.Minute, time.Minute
			if useUp(t, limit, a, b) != limit {
				t.Error("a call is refused")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := shared("")
			start := func() *server {
				on := &server{}
				on.spending = &spending{limit: limit, drawn: &marks[dayCount]{stateFile: stateFile{store: s, name: "spending.json"}},
					now: func() time.Time { return time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC).Add(on.ahead) }}
				return on
			}
			check(t, start(), start())
		})
	}
}

func zero() float64 { return 0 }

// A caller's files have a limit: those that are there and those that runs write, and no other caller's.
func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := t.TempDir()
		old := filepath.Join(out, "mia", "local", "old.txt")
		must(t, os.MkdirAll(filepath.Dir(old), 0o755))
		must(t, os.WriteFile(old, make([]byte, 600), 0o600))
		q := quota{out: out, limit: 1000}
		mia, bob := func(n int64) error { return q.take("mia", n) }, func(n int64) error { return q.take("bob", n) }
		for range 2 {
			if err := mia(200); err != nil {
				t.Error(err)
			}
		}
		err := mia(1)
		if messages.CodeOf(err) != messages.CauseLimitExceeded ||
			!strings.Contains(err.Error(), "--max-out-each") {
			t.Error(err)
		}
		must(t, bob(1000))
		must(t, os.Remove(old))
		time.Sleep(remeasure + time.Second)
		if err := mia(1000); err != nil {
			t.Errorf("files were removed: %v", err)
		}
		if (&quota{}).take("mia", 1<<60) != nil {
			t.Error("there is no limit")
		}
	})
}
