package lab_test

import (
	"fmt"
	"os"
	"sync"
	"text/tabwriter"
)

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
