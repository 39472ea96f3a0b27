package nats_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// "N is in the stream's metadata at creation and never changes; a node that finds another N refuses to start." "A tree
// lies in one stream." "Lists and searches ask all streams."
func TestStreams(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s, nats.Streams(3)), open(t, s)
		for _, other := range []int{1, 2, 65} {
			j, err := nats.Open(t.Context(), "", nats.Streams(other), nats.Connect(natsgo.InProcessServer(s)))
			if err == nil {
				_ = j.Close()
			}
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%d streams: %v", other, err)
			}
		}
		const roots = 30
		for i := range roots {
			root := messages.RunID(fmt.Sprint("r_", i))
			must(t, a, block(root, 0, 1, queued))
			if err := add(b, block(root, 0, 2, queued)); !errors.Is(err, journal.ErrFenced) {
				t.Errorf("the same run at another node: %v", err)
			}
			must(t, b, block(root+".c1", 0, 1, queued, failed))
			must(t, b, block(root, 1, 3, failed))
		}
		js, total := client(t, s), 0
		for _, name := range []string{"RUNS", "RUNS-1", "RUNS-2"} {
			stream, err := js.Stream(t.Context(), name)
			noError(t, err)
			info, err := stream.Info(t.Context())
			noError(t, err)
			blocks, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
			noError(t, err)
			if info.State.Msgs == 0 {
				t.Errorf("stream %s has no block", name)
			}
			for subject := range blocks.State.Subjects {
				if root, child := strings.CutSuffix(subject, "~c1.q"); child && blocks.State.Subjects[root+".q"] != 1 {
					t.Errorf("%s is not in the stream of its root", subject)
				}
			}
			total += int(info.State.Msgs)
		}
		if total != 3*roots {
			t.Errorf("%d blocks, want %d", total, 3*roots)
		}
		time.Sleep(time.Second)
		for _, j := range []*nats.Journal{a, b} {
			list, err := j.List(t.Context(), messages.Query{Principal: "ann", Limit: 1000})
			if err != nil || len(list) != 2*roots {
				t.Errorf("%d runs are listed (%v)", len(list), err)
			}
		}
		for i := range roots {
			noError(t, b.DeleteLog(t.Context(), messages.RunID(fmt.Sprint("r_", i))))
		}
		reader, err := nats.OpenReader(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)))
		noError(t, err)
		defer reader.Close()
		report, err := reader.Check(t.Context())
		if err != nil || len(report.Faults) > 0 || report.Runs != roots || len(report.Removed) != roots {
			t.Errorf("%d runs, %d removed, %+v (%v)", report.Runs, len(report.Removed), report.Faults, err)
		}
	})
}
