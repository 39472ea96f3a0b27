package sqlite_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// "every change of a store that says something else about ended runs is found, and lawful removals are none"
func TestLedger(t *testing.T) {
	dir := old(t, 3)
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	signed := sqlite.SignedBy(func() (ed25519.PrivateKey, error) { return key, nil })
	synctest.Test(t, func(t *testing.T) {
		j, err := sqlite.Open(dir, signed)
		must(t, err)
		for _, run := range []messages.RunID{"r_a", "r_b", "r_c"} {
			talk(t, j, run, 2, "a true word")
		}
		mustAppend(t, j, block("r_two", 0, queued), block("r_two", 1, started, begun))
		must(t, j.DeleteLog(t.Context(), "r_c"))
		must(t, j.DeleteLog(t.Context(), "r_ended"))
		synctest.Wait()
		must(t, j.Close())
		j, err = sqlite.Open(dir, signed) // r_two ends at another opening than it began
		must(t, err)
		mustAppend(t, j, block("r_two", 3, done, success))
		synctest.Wait()
		must(t, j.Close())
	})
	clean := check(t, dir)
	if l := clean.Ledger; len(clean.Faults) > 0 || l.Before != 3 || l.Unsigned != 0 || len(l.Keys) != 1 || !key.Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(l.Keys[0])) {
		t.Fatalf("the check says %+v, %+v", clean, clean.Ledger)
	}
	other := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, _ := open(t, other)
		talk(t, j, "r_a", 2, "a false word")
		mustAppend(t, j, block("r_new", 0, queued))
		synctest.Wait()
	})
	data, err := os.ReadFile(filepath.Join(dir, "journal.db"))
	must(t, err)
	const of, oneOf = "(SELECT id FROM runs WHERE run = 'r_a')", "(SELECT id FROM runs WHERE run = 'r_merged')"
	forgeries := map[string]string{
		"a run deleted":                "DELETE FROM blocks WHERE run = " + of + "; DELETE FROM runs WHERE run = 'r_a'",
		"an old run deleted":           "DELETE FROM blocks WHERE run = " + oneOf + "; DELETE FROM runs WHERE run = 'r_merged'",
		"a deleted run called removed": "DELETE FROM blocks WHERE run = " + of + "; DELETE FROM runs WHERE run = 'r_a'; INSERT INTO removed SELECT replace(line, 'r_c', 'r_a'), digest FROM removed",
		"a removal's record deleted":   "DELETE FROM removed WHERE line LIKE '%r_c%'",
		"all records deleted":          "DELETE FROM removed",
		"the opening changed":          "UPDATE blocks SET opening = opening - 1 WHERE run = " + of,
		"the first block's opening":    "UPDATE blocks SET opening = 1 WHERE first = 1 AND run = (SELECT id FROM runs WHERE run = 'r_two')",
		"the store's opening":          "UPDATE store SET opening = opening + 1",
		"the salt changed":             "UPDATE store SET salt = x'00'",
		"an entry deleted":             "DELETE FROM ledger WHERE entry = 3",
		"the last entry deleted":       "DELETE FROM ledger WHERE entry = (SELECT max(entry) FROM ledger)",
		"all entries deleted":          "DELETE FROM ledger",
		"entries renumbered":           "UPDATE ledger SET entry = entry + 100",
		"an entry of another run":      "UPDATE ledger SET run = 'r_two' WHERE run = 'r_a'",
		"an entry changed":             "UPDATE ledger SET line = replace(line, 'removed', 'expired')",
		"a signature changed":          "UPDATE ledger SET signature = x'00' || substr(signature, 2) WHERE entry = 2",
		"a signature of another's":     "UPDATE ledger SET signature = (SELECT signature FROM ledger WHERE entry = 1) WHERE entry = 2",
		"a key of nobody's":            "UPDATE ledger SET key = x'00' WHERE entry = 2",
		"a message with digests anew": "ATTACH '" + filepath.Join(other, "journal.db") + "' AS o; DELETE FROM blocks WHERE run = " + of + "; INSERT INTO blocks SELECT " + of +
			", first, last, id, 9, epoch, writer, terminal, body, before, digest FROM o.blocks WHERE run = 1; UPDATE blocks SET opening = (SELECT opening FROM store) - 1 WHERE opening = 9;" +
			"UPDATE runs SET (queued_at, updated_at, bytes) = (SELECT queued_at, updated_at, bytes FROM o.runs WHERE run = 'r_a') WHERE run = 'r_a'",
	}
	for _, name := range slices.Sorted(maps.Keys(forgeries)) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "journal.db"), data, 0o600))
			change(t, dir, forgeries[name])
			if report := check(t, dir); len(report.Faults) == 0 {
				t.Errorf("the check says %+v, %+v", report, report.Ledger)
			} else if f := report.Faults[0]; f.Rule != journal.RuleLedger && name != "a deleted run called removed" {
				t.Errorf("another rule found it: %v", report.Faults)
			}
		})
	}
	if last := clean.Ledger; !last.Holds(last.Entries, last.Heads[0].Head) || !check(t, dir).Ledger.Holds(last.Entries, last.Heads[0].Head) || last.Holds(last.Entries+1, last.Heads[0].Head) {
		t.Error("the ledger does not know its own head")
	}
	report, err := sqlite.Check(t.Context(), dir, "r_b")
	if err != nil || len(report.Logs) != 1 || string(report.Logs[0].Key) != string(key.Public().(ed25519.PublicKey)) {
		t.Errorf("of one run the check says %+v, %v", report, err)
	}
}

// "the retention leaves entries; without a key, or while it cannot be read, they have no signature, and appends go on"
func TestLedgerWithoutKey(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, err := sqlite.Open(dir, sqlite.SignedBy(func() (ed25519.PrivateKey, error) { return nil, errors.New("gone") }))
		must(t, err)
		talk(t, j, "r_a", 1, "a word")
		talk(t, j, "r_b", 1, "a word")
		_, err = j.Expire(t.Context(), time.Now().Add(time.Hour), 1<<40)
		must(t, err)
		talk(t, j, "r_a", 1, "another") // the key of a removed run is free
		must(t, j.Close())
	})
	if report := check(t, dir); len(report.Faults) > 0 || report.Runs != 1 || report.Ledger.Entries != 6 || report.Ledger.Unsigned != 6 {
		t.Errorf("the check says %+v, %+v", report, report.Ledger)
	}
}

func check(t *testing.T, dir string) journal.Report {
	t.Helper()
	report, err := sqlite.Check(t.Context(), dir)
	must(t, err)
	return report
}
