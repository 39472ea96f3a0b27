package llm_test

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/call"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

var reported = regexp.MustCompile(`"total_tokens": ?(\d+)`)

// However a server misbehaves, the run has spent what the server reported, or else an estimate, which says so. Nothing stays
// reserved.
func TestMisbehavioursAreSpent(t *testing.T) {
	system := faultplan.Open(t, actors.Config{})
	check := func(name, profile string, breaks func(*testkit.Model), retries int, output bool, each int64) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := testkit.NewModel(t)
			breaks(m)
			c := client(t, llm.Config{BaseURL: m.URL(), Profile: model.Profile(profile), Retries: cmp.Or(retries, -1),
				Limits: llm.Limits{FirstToken: 500 * time.Millisecond, Idle: 500 * time.Millisecond}})
			run, err := system.Start(t.Context(), actors.Job{Name: "spend", Tasks: []actors.Task{{Name: "work",
				Run: func(ctx context.Context, task *actors.TaskContext) error {
					_, err := call.Respond(ctx, task, c.Stream, hello(), call.Label{})
					return err
				}}}}, actors.Options{Limits: messages.Limits{Budget: messages.Budget{Tokens: 100_000}}})
			must(t, err)
			s, err := run.Wait(t.Context())
			must(t, err)
			switch p := s.Purse; {
			case p.Reserved != messages.Budget{}:
				t.Errorf("%+v stays reserved", p.Reserved)
			case each > 0 && (p.Estimated || p.Spent.Tokens != each*p.Spent.ModelCalls):
				t.Errorf("%+v, and the server reported %d for each call", p, each)
			case each == 0 && p.Estimated != (p.Spent.Tokens > 0), output && p.Spent.Output == 0:
				t.Errorf("%+v", p)
			}
		})
	}
	for _, f := range modelFaults() {
		check(f.Name, f.Profile, f.breaks, f.Retries, f.Text != "", 0)
	}
	for name, usage := range map[string]testkit.Piece{"a usage before the end": testkit.Usage(9, 1), "a usage of nothing": testkit.Usage(0, 0)} {
		check(name, "strict", func(m *testkit.Model) {
			m.Always(testkit.Text("Hello "), usage, testkit.Text("there"), testkit.Finish("stop"), testkit.Done())
		}, 0, true, 0)
	}
	for _, f := range fixtures(t) {
		total := int64(0)
		for _, usage := range reported.FindAllStringSubmatch(f.Response.Body, -1) {
			total, _ = strconv.ParseInt(usage[1], 10, 64) // the last one is of the whole call
		}
		check(f.ID, f.Profile, func(m *testkit.Model) { m.Always(f.answer()...) }, 0, f.Expect.Text != "", total)
	}
}
