package lab_test

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"text/tabwriter"

	"github.com/seed889630bf/lastword/messages"
)

// watched is one streamed call as a client saw it.
type watched struct {
	Events []seen        `json:"events"`
	Late   int           `json:"late"` // events that came after the call was over
	Result *kitRunResult `json:"result"`
	Error  string        `json:"error"`
}

// seen is one event as a client saw it.
type seen struct {
	RunID messages.RunID `json:"run_id"`
	Seq   uint64         `json:"seq"`
	From  uint64         `json:"from"`
	Type  messages.Kind  `json:"type"`
}

// kitRunResult is what the kit needs of a tool's structured content.
type kitRunResult struct {
	RunID   messages.RunID  `json:"run_id"`
	Status  messages.Status `json:"status"`
	Seq     uint64          `json:"seq"`
	IsError bool            `json:"is_error"`
	// Terminal is in the result's _meta. URI belongs to the first file that it links to.
	Terminal json.RawMessage `json:"terminal"`
	URI      string          `json:"uri"`
}

// answer is what one scenario came to.
type answer struct {
	Scenario string          `json:"scenario"`
	Version  string          `json:"version"`
	Runs     []watched       `json:"runs"`
	Status   messages.Status `json:"status"`
	Text     string          `json:"text"`
	URI      string          `json:"uri"`
}

// tally counts what went wrong with the events of a client's calls.
type tally struct{ events, lost, foreign, reordered, late int }

func (t *tally) add(o tally) {
	t.events += o.events
	t.lost += o.lost
	t.foreign += o.foreign
	t.reordered += o.reordered
	t.late += o.late
}

func (t tally) String() string {
	return fmt.Sprintf("%6d events  %d lost  %d foreign  %d reordered  %d late", t.events, t.lost, t.foreign, t.reordered, t.late)
}

// count judges the events of one call that read its run from the cursor: to the last event before the terminal, which
// is the result, or, where the call was cut off, to the last that came.
func (w watched) count(after uint64) tally {
	t := tally{events: len(w.Events)}
	end := uint64(0)
	run := messages.RunID("")
	switch {
	case w.Result != nil:
		run, end, t.late = w.Result.RunID, w.Result.Seq-1, w.Late
	case len(w.Events) > 0:
		run = w.Events[0].RunID
	}
	cursor := after
	for _, e := range w.Events {
		switch {
		case e.RunID != run:
			t.foreign++
		case e.Seq <= cursor:
			t.reordered++
		default:
			t.lost += int(e.From - min(e.From, cursor+1))
			cursor = e.Seq
		}
	}
	t.lost += int(end - min(end, cursor))
	return t
}

// clientRow is what make clients prints of a client of a dialect.
type clientRow struct {
	dialect, client, version string
	equal, stories, cuts     int
}

var clientTable struct {
	mu   sync.Mutex
	rows []clientRow
}

// print adds the row to the table.
func (r clientRow) print() {
	clientTable.mu.Lock()
	defer clientTable.mu.Unlock()
	clientTable.rows = append(clientTable.rows, r)
}

// printClients prints the table, if there is one.
func printClients() {
	if len(clientTable.rows) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ndialect\tclient\tversion\tstories equal\tcuts judged")
	for _, r := range clientTable.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d of %d\t%d\n", r.dialect, r.client, r.version, r.equal, r.stories, r.cuts)
	}
	_ = w.Flush() // to stdout
}
