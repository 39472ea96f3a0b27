package messages_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/messages"
)

// A list never says anything else of a run than its State does, however the log was merged.
func TestSummariesAgreeWithStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var summary messages.Summary
		var state messages.State
		for _, e := range mergeSome(t, legal(t).log) {
			state = fold(t, state, e)
			summary.Add(e)
			got := summary
			got.Purse, got.Budget = nil, nil
			same(t, "summary", got, summaryOf(state))
			if state.Purse != nil && state.Purse.Estimated {
				continue // a lost call counts in the State alone
			}
			same(t, "what was spent", summary.Spent(), state.Spent())
			if limit := state.Queued.Limits.Budget; limit != (messages.Budget{}) {
				same(t, "the budget", *summary.Budget, limit)
			}
		}
	})
}

func summaryOf(s messages.State) messages.Summary {
	sum := messages.Summary{RunID: s.RunID, Job: s.Queued.Job, Input: "<a>", Principal: s.Queued.Principal, Labels: s.Queued.Labels,
		Status: s.Status, Canceling: s.Canceling, Seq: s.Seq, QueuedAt: s.QueuedAt, UpdatedAt: s.UpdatedAt}
	if s.End != nil {
		sum.Cause = s.End.Cause
		return sum
	}
	if !s.HeldAt.IsZero() {
		sum.Cause = "held"
	}
	for _, in := range s.Inputs {
		if !in.Closed {
			sum.OpenRequests = append(sum.OpenRequests, in.Request)
		}
	}
	slices.Sort(sum.OpenRequests)
	return sum
}

// People know a run by its title or, without one, by the first text of its input.
func TestInputOfSummaries(t *testing.T) {
	long := strings.Repeat("ä", 200)
	for input, want := range map[string]string{
		`"once\n upon\ta time"`:                                     "once upon a time",
		`{"repository":"spf13/cobra","out":"x"}`:                    "spf13/cobra",
		`{"n":1,"empty":"","list":[[],{"deep":["found"]}],"a":"b"}`: "found",
		`{"n":1,"all":true}`:                                        "n=1 all=true",
		`7`:                                                         "7", `null`: "", `{}`: "",
		``:               "",
		`"` + long + `"`: strings.Repeat("ä", 78) + "…",
		`"` + strings.Repeat(`\n`, 2000) + `late"`:                        "",
		`"` + strings.Repeat("ä", 9000) + `"`:                             strings.Repeat("ä", 78) + "…",
		`{"n":"` + strings.Repeat(" ", 5100) + `","text":"late"}`:         "",
		`[` + strings.Repeat(`{"n":1},`, 639) + `{"m":"across the cut"}]`: "across the cut",
	} {
		var s messages.Summary
		s.Add(messages.Event{Seq: 1, Body: messages.RunQueued{Job: "j", Input: json.RawMessage(input)}})
		if s.Input != want {
			t.Errorf("%.40s: %q, want %q", input, s.Input, want)
		}
		s.Add(messages.Event{Seq: 1, Body: messages.RunQueued{Job: "j", Title: "the\ntitle", Input: json.RawMessage(input)}})
		if s.Input != "the title" {
			t.Errorf("%.40s: %q", input, s.Input)
		}
	}
}

func TestQuerySelects(t *testing.T) {
	run := messages.Summary{Job: "generate", Principal: "ann", Status: messages.Failed}
	for _, c := range []struct {
		q    messages.Query
		want bool
	}{
		{messages.Query{Principal: "ann"}, true},
		{messages.Query{}, false},
		{messages.Query{Principal: "an"}, false},
		{messages.Query{Principal: "ann", Job: "generate"}, true},
		{messages.Query{Principal: "ann", Job: "prompt"}, false},
		{messages.Query{Principal: "ann", Status: []messages.Status{messages.Completed, messages.Failed}}, true},
		{messages.Query{Principal: "ann", Status: []messages.Status{messages.Completed}}, false},
	} {
		if got := c.q.Selects(&run); got != c.want {
			t.Errorf("%+v: %t", c.q, got)
		}
	}
}

func TestQueryIsBounded(t *testing.T) {
	for limit, want := range map[int]int{-1: 50, 0: 50, 1: 1, 1000: 1000, 1001: 1000} {
		if got := (messages.Query{Limit: limit}).Most(); got != want {
			t.Errorf("limit %d: %d, want %d", limit, got, want)
		}
	}
}

func TestSummariesHaveOneOrder(t *testing.T) {
	old := messages.Summary{RunID: "r_b", UpdatedAt: epoch}
	tie := messages.Summary{RunID: "r_c", UpdatedAt: epoch.In(time.FixedZone("east", 3600))}
	fresh := messages.Summary{RunID: "r_d", UpdatedAt: epoch.Add(time.Nanosecond)}
	order := []*messages.Summary{&fresh, &old, &tie}
	for i, a := range order {
		for k, b := range order {
			if got := (messages.Query{}).Compare(a, b); (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%s, %s: %d", a.RunID, b.RunID, got)
			}
			if got := (messages.Query{After: a}).Selects(b); got != (i < k) {
				t.Errorf("after %s there is %s: %t", a.RunID, b.RunID, got)
			}
		}
	}
	early, late := messages.Summary{RunID: "r_a", UpdatedAt: epoch.Add(9)}, messages.Summary{QueuedAt: epoch, RunID: "r_b"}
	if (messages.Query{}).Compare(&early, &late) >= 0 || (messages.Query{ByQueued: true}).Compare(&early, &late) <= 0 {
		t.Error("the runs are not in the order of the times that are asked for")
	}
}

// All surfaces say how far a run is in the same words.
func TestStanding(t *testing.T) {
	held := messages.Event{RunID: "r_1", Body: messages.RunHeld{After: "r_0"}}
	said := []string{}
	for _, change := range []func(*messages.Summary){
		func(*messages.Summary) {},
		func(s *messages.Summary) { s.Status = messages.Processing },
		func(s *messages.Summary) { s.OpenRequests = []string{"sure"} },
		func(s *messages.Summary) { s.Add(held) },
		func(s *messages.Summary) { s.Add(held); s.Canceling = true },
		func(s *messages.Summary) { s.Status, s.OpenRequests = messages.Completed, []string{"sure"} },
		func(s *messages.Summary) { s.Status, s.Canceling = messages.Failed, true },
		func(s *messages.Summary) { s.Status = messages.Canceled },
	} {
		s := messages.Summary{Status: messages.Pending}
		change(&s)
		said = append(said, s.Standing(false))
	}
	if !slices.Equal(said, messages.Standings()) {
		t.Errorf("said %q", said)
	}
	if s := (messages.Summary{Status: messages.Processing}); s.Standing(true) != "waiting for a person" {
		t.Error("a run whose sub-run asks does not wait")
	}
}
