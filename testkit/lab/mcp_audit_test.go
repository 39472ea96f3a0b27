package lab_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// auditPlan is calls of a streamed job, and how they are made.
type auditPlan struct {
	transport string // http or stdio
	era       era
	calls     int
	inFlight  int
	events    int           // milestones that each run says itself
	get       bool          // a GET stream is open beside the calls
	pause     time.Duration // of the reader, between two messages
}

func (p auditPlan) String() string {
	s := fmt.Sprintf("mcp %s, %s era, %d x %d events, %d in flight", p.transport, p.era, p.calls, p.events, p.inFlight)
	if p.get {
		s += ", GET open"
	}
	if p.pause > 0 {
		s += ", slow reader"
	}
	return s
}

// auditPlans are the rows of the table: many calls, with and without a stream beside them, bursts, and slow readers.
func auditPlans() []auditPlan {
	var plans []auditPlan
	for _, inFlight := range []int{1, 8} {
		plans = append(plans,
			auditPlan{transport: "http", era: session, calls: 1500, events: 5, inFlight: inFlight},
			auditPlan{transport: "http", era: session, calls: 1500, events: 5, inFlight: inFlight, get: true},
			auditPlan{transport: "http", era: modern, calls: 1500, events: 5, inFlight: inFlight},
			auditPlan{transport: "stdio", era: session, calls: 1500, events: 5, inFlight: inFlight},
			auditPlan{transport: "stdio", era: modern, calls: 1500, events: 5, inFlight: inFlight})
	}
	for _, transport := range []string{"http", "stdio"} {
		plans = append(plans,
			auditPlan{transport: transport, era: session, calls: 10, events: 2000, inFlight: 1},
			auditPlan{transport: transport, era: modern, calls: 10, events: 2000, inFlight: 1},
			auditPlan{transport: transport, era: modern, calls: 2, events: 2000, inFlight: 2, pause: 200 * time.Microsecond})
	}
	return plans
}

// auditFigures are the rows of make bench: what was lost, foreign, reordered or late on the wire, which is nothing.
func auditFigures() []figure {
	var rows []figure
	for _, p := range auditPlans() {
		rows = append(rows, figure{name: p.String(), unit: "lost, foreign, reordered or late", ours: func(t *testing.T) float64 {
			sum := p.run(t)
			if sum.events < p.calls*p.events {
				t.Errorf("%d events came of %d calls", sum.events, p.calls)
			}
			return float64(sum.lost + sum.foreign + sum.reordered + sum.late)
		}})
	}
	return rows
}

// TestAudit is a small audit of each kind.
func TestAudit(t *testing.T) {
	for _, p := range auditPlans() {
		p.calls, p.events = min(p.calls, 40), min(p.events, 300)
		t.Run(p.String(), func(t *testing.T) {
			sum := p.run(t)
			if sum.events < p.calls*p.events || sum.lost+sum.foreign+sum.reordered+sum.late > 0 {
				t.Errorf("of %d calls: %v", p.calls, sum)
			}
		})
	}
}

func (p auditPlan) run(t *testing.T) tally {
	t.Helper()
	var strays atomic.Int64 // events where no call waits for them
	stray := func(message []byte) {
		var m rawMessage
		if json.Unmarshal(message, &m) == nil && m.Params.Meta.Event != nil {
			strays.Add(1)
		}
	}
	client := p.dial(t, stray)
	ids := make(chan int, p.calls)
	for i := range p.calls {
		ids <- i + 1
	}
	close(ids)
	var mu sync.Mutex
	var sum tally
	var workers sync.WaitGroup
	for range p.inFlight {
		workers.Go(func() {
			for id := range ids {
				one, err := p.audit(client, id)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				sum.add(one)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	sum.foreign += int(strays.Load())
	return sum
}

func (p auditPlan) dial(t *testing.T, stray func([]byte)) rawClient {
	t.Helper()
	if p.transport == "stdio" {
		cmd := exec.Command(os.Args[0])
		cmd.Env = kitTarget{folder: t.TempDir()}.env()
		cmd.Stderr = os.Stderr
		return dialStdio(t, cmd, p.era, stray)
	}
	door, end, err := openDoor(t.TempDir())
	must(t, err)
	server := httptest.NewServer(http.StripPrefix("/mcp", door))
	t.Cleanup(func() { end(); server.CloseClientConnections(); server.Close() })
	c := dialRaw(t, server.URL+"/mcp", p.era)
	if p.get {
		c.listen(t, stray)
	}
	return c
}

// audit makes one call and judges its events.
func (p auditPlan) audit(client rawClient, id int) (tally, error) {
	var w watched
	foreign := 0
	err := client.call(id, "count", fmt.Sprintf(`{"n":%d}`, p.events), func(message []byte) {
		var m rawMessage
		if err := json.Unmarshal(message, &m); err != nil {
			w.Error = err.Error()
		}
		switch {
		case m.ID != nil:
			w.Result = m.Result.Structured
		case m.Params.Meta.Event == nil:
		case m.Params.ProgressToken != id:
			foreign++
		default:
			w.take(*m.Params.Meta.Event)
		}
		time.Sleep(p.pause)
	})
	switch {
	case err != nil:
		return tally{}, err
	case w.Error != "":
		return tally{}, errors.New(w.Error)
	case w.Result == nil || w.Result.Status != messages.Completed:
		return tally{}, fmt.Errorf("call %d has no result", id)
	}
	sum := w.count(0)
	sum.foreign += foreign
	return sum, nil
}

func (w *watched) take(e seen) {
	if e.From == 0 {
		e.From = e.Seq
	}
	if w.Result != nil {
		w.Late++
	}
	w.Events = append(w.Events, e)
}
