package host

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// spend is a job that calls a model: in a sub-run, if it is told to.
func spend(ctx context.Context, t *actors.TaskContext, below bool) (string, error) {
	if below {
		job, err := actors.Func("spend", spend).New([]byte("false"))
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
		for _, input := range []string{"false", "true"} {
			must(t, start("mia", input, input))
		}
		err := start("mia", "false", "")
		if err == nil {
			t.Fatal("a run begins after 24 tokens of 20")
		}
		answer := httptest.NewRecorder()
		auth.Refuse(answer, err)
		if answer.Code != 429 || answer.Header().Get("Retry-After") != "7080" ||
			!strings.Contains(answer.Body.String(), "after 2000-01-02 00:00 UTC") {
			t.Errorf("%d %v %s", answer.Code, answer.Header(), answer.Body)
		}
		if err := start("mia", "true", "true"); err != nil {
			t.Errorf("a run that its key finds: %v", err)
		}
		if err := start("bob", "false", ""); err != nil {
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
		time.Sleep(2 * time.Hour)
		if err := start("mia", "false", ""); err != nil {
			t.Errorf("the next day: %v", err)
		}
	})
}

// "two servers of one journal hold one ceiling, up to one call each; a server that stops gives back what it has drawn"
func TestTokensOfTwoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, call = 100_000, 3000
		s, ctx, used := shared(""), t.Context(), 0
		server := func() *spending {
			return &spending{limit: limit, drawn: &marks[dayCount]{stateFile: stateFile{store: s, name: "spending.json"}}}
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
