package sqlite_test

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// chained checks the run's blocks one after the other, and returns where the log stands and how many there are.
func chained(t *testing.T, r journal.Reader, run messages.RunID) (at journal.Chain, n int) {
	t.Helper()
	for b, err := range r.Blocks(t.Context(), run) {
		if err == nil {
			at, _, err = b.Check(at)
		}
		if err != nil {
			t.Fatalf("%s past %d: %v", run, at.Seq, err)
		}
		n++
	}
	return at, n
}

// "merging keeps the chain of the milestones and digests the deltas anew"
func TestMergeKeepsChain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, _ := open(t, dir)
		mustAppend(t, j, block("r_a", 0, queued), block("r_a", 1, started, begun))
		for i := range 50 {
			mustAppend(t, j, block("r_a", uint64(3+i), said(i, "word ")))
		}
		last, b := block("r_a", 53, done, success), journal.StoredBlock{}
		live, n := chained(t, j, "r_a")
		for _, e := range last.Events {
			line, _ := e.JSON()
			b.Lines = append(b.Lines, line)
		}
		want := journal.Chain{Seq: 55, Hash: b.Seal(live.Hash, last.Events)}
		mustAppend(t, j, last)
		synctest.Wait()
		if got, merged := chained(t, j, "r_a"); got != want || n != 52 || merged != 1 {
			t.Errorf("%d blocks, and %d merged, stand at %v, want %v", n, merged, got, want)
		}
	})
	sound(t, dir, 1)
}

// old copies the testdata of a schema, and returns its directory.
func old(t *testing.T, version int) string {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(fmt.Sprintf("testdata/schema%d.db", version))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "journal.db"), data, 0o600)
	}
	must(t, err)
	return dir
}

// "Databases of schema 1 to 3 migrate", and go on.
func TestOldSchemas(t *testing.T) {
	for version := 1; version <= 3; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := old(t, version)
			synctest.Test(t, func(t *testing.T) {
				j, r := open(t, dir)
				list, err := r.List(t.Context(), messages.Query{Principal: "ann", Status: []messages.Status{messages.Processing}})
				if err != nil || len(list) != 2 || list[0].Input != "Which park is the largest?" ||
					!slices.ContainsFunc(list, func(s messages.Summary) bool { return slices.Equal(s.OpenRequests, []string{`a "b"`}) }) {
					t.Errorf("the list is %+v, %v", list, err)
				}
				mustAppend(t, j, block("r_live", 6, done, success), block("r_asks", 8, messages.InputReceived{Request: `a "b"`, Value: json.RawMessage("1")}))
				for _, run := range []messages.RunID{"r_live", "r_asks", "r_merged", "r_ended", "r_canceled"} {
					chained(t, r, run)
				}
				synctest.Wait()
			})
			sound(t, dir, 5)
			var mode int
			if reading(t, dir, "PRAGMA auto_vacuum", &mode); mode != 2 {
				t.Errorf("auto_vacuum is %d", mode)
			}
		})
	}
}

// A log that was damaged before the schema changed costs that run alone.
func TestOldDamage(t *testing.T) {
	dir := old(t, 3)
	change(t, dir, "UPDATE blocks SET body = substr(body, 2) WHERE run = (SELECT id FROM runs WHERE run = 'r_live') AND first = 1")
	j, _ := open(t, dir)
	mustAppend(t, j, block("r_asks", 8, messages.InputReceived{Request: `a "b"`, Value: json.RawMessage("1")}))
	if err := appended(j, block("r_live", 6, done, success)); messages.CodeOf(err) != messages.CodeUnavailable || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("the damaged log goes on: %v", err)
	}
	report, err := sqlite.Check(t.Context(), dir)
	if err != nil || len(report.Faults) != 1 || report.Faults[0].Run != "r_live" {
		t.Errorf("the check says %+v, %v", report, err)
	}
}

// "one changed byte in any block body or in a derived column is found"
func TestFlippedByte(t *testing.T) {
	dir := old(t, 3)
	synctest.Test(t, func(t *testing.T) { open(t, dir); synctest.Wait() })
	sound(t, dir, 5)
	data, err := os.ReadFile(filepath.Join(dir, "journal.db"))
	must(t, err)
	columns := map[string][]string{
		"runs": {"run", "principal", "job", "input", "labels", "requests", "purse", "status", "canceling", "cause", "seq", "epoch", "ended",
			"bytes", "queued_at", "updated_at"},
		"blocks": {"run", "first", "last", "id", "epoch", "writer", "terminal", "before", "digest", "body"},
	}
	for table, names := range columns {
		for _, name := range names {
			t.Run(table+"."+name, func(t *testing.T) {
				for row := range values(t, dir, table, name) {
					if testing.Short() && row%4 != 0 {
						continue
					}
					dir := t.TempDir()
					must(t, os.WriteFile(filepath.Join(dir, "journal.db"), data, 0o600))
					if !flip(t, dir, table, name, row) {
						continue
					}
					if report, err := sqlite.Check(t.Context(), dir); err != nil || len(report.Faults) == 0 {
						t.Errorf("row %d: the check says %+v, %v", row, report, err)
					}
				}
			})
		}
	}
}

// One changed byte of the file is found, unless everything that the tables say is the same: unused bytes of pages are not
// claimed.
func TestFlippedByteOfFile(t *testing.T) {
	dir := old(t, 3)
	synctest.Test(t, func(t *testing.T) {
		j, _ := open(t, dir)
		synctest.Wait()
		must(t, j.DeleteLog(t.Context(), "r_ended"))
	})
	sound(t, dir, 4)
	name := filepath.Join(dir, "journal.db")
	data, err := os.ReadFile(name)
	must(t, err)
	want, random, found := tables(dir), rand.New(rand.NewPCG(1, 2)), 0
	if want == "" {
		t.Fatal("the tables cannot be read")
	}
	sample := 600
	if testing.Short() {
		sample = 100
	}
	for range sample {
		at, bit := random.IntN(len(data)), byte(1)<<random.IntN(8)
		for data[at] == 0 { // mostly unused
			at = random.IntN(len(data))
		}
		data[at] ^= bit
		must(t, os.WriteFile(name, data, 0o600))
		data[at] ^= bit
		report, err := sqlite.Check(t.Context(), dir)
		if err != nil || len(report.Faults) > 0 {
			found++
		} else if tables(dir) != want {
			t.Errorf("bit %#x of byte %d changes what the tables say, and the check finds nothing", bit, at)
		}
	}
	t.Logf("of %d flipped bits %d were found, the others change nothing", sample, found)
}

// tables are the values of the tables but for what only the writer uses, or "" if they cannot be read.
func tables(dir string) (all string) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "journal.db")+"?mode=ro")
	if err != nil {
		return ""
	}
	defer db.Close()
	for _, query := range []string{
		"SELECT concat_ws('|', id, run, principal, job, input, labels, requests, purse, status, canceling, cause, seq, epoch, ended, bytes, queued_at, updated_at) FROM runs",
		"SELECT concat_ws('|', run, first, last, hex(id), epoch, writer, terminal, hex(before), hex(digest), hex(body)) FROM blocks",
		"SELECT concat_ws('|', line, hex(digest)) FROM removed",
	} {
		rows, err := db.Query(query)
		if err != nil {
			return ""
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return ""
			}
			all += line + "\n"
		}
		if rows.Err() != nil {
			return ""
		}
	}
	return all
}

// values are the values of a column, in order.
func values(t *testing.T, dir, table, column string) (all []any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT "+column+" FROM "+table+" ORDER BY "+order[table])
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var value any
		must(t, rows.Scan(&value))
		all = append(all, value)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%d values: %v", len(all), err)
	}
	return all
}

var order = map[string]string{"runs": "id", "blocks": "run, first"}

// flip changes a byte of a value, unless the schema refuses it.
func flip(t *testing.T, dir, table, column string, row int) bool {
	t.Helper()
	value := values(t, dir, table, column)[row]
	switch v := value.(type) {
	case int64:
		value = v ^ 1
	case string:
		value = string(flipped([]byte(v)))
	case []byte:
		value = flipped(v)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), fmt.Sprintf("UPDATE %s SET %s = ? WHERE (%s) = (SELECT %[3]s FROM %[1]s ORDER BY %[3]s LIMIT 1 OFFSET ?)",
		table, column, order[table]), value, row)
	if err != nil && !strings.Contains(err.Error(), "constraint") {
		t.Fatal(err)
	}
	return err == nil
}

// flipped changes a byte in the middle, or adds one where there is none.
func flipped(b []byte) []byte {
	if len(b) == 0 {
		return []byte("x")
	}
	b = bytes.Clone(b)
	b[len(b)/2] ^= 1
	return b
}

var must = fatal.IfError

// "every change of a store that says something else about ended runs is found, and lawful removals are none"
func TestLedger(t *testing.T) {
	dir, key := old(t, 3), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
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
	table, err := os.ReadFile("testdata/forgeries.txt")
	must(t, err)
	statements := strings.NewReplacer("THE_RUN", "(SELECT id FROM runs WHERE run = 'r_a')", "THE_OLD", "(SELECT id FROM runs WHERE run = 'r_merged')",
		"OTHER", filepath.Join(other, "journal.db")).Replace(string(table))
	for line := range strings.Lines(statements) {
		name, forgery, _ := strings.Cut(line, "\t")
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "journal.db"), data, 0o600))
			change(t, dir, forgery)
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
