package nats_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// signedBy opens the journal of a node with its own key.
func signedBy(t *testing.T, s *server.Server, seed byte) *nats.Journal {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return open(t, s, nats.SignedBy(func() (ed25519.PrivateKey, error) { return key, nil }))
}

// end writes a whole run, which says the word.
func end(t *testing.T, j *nats.Journal, run messages.RunID, word string) {
	t.Helper()
	must(t, j, block(run, 0, 1, queued))
	must(t, j, block(run, 1, 2, messages.RunStarted{Node: "a", Epoch: 1},
		messages.Log{Lines: []messages.LogLine{{Number: 1, Level: messages.LogInfo, Text: word}}}))
	must(t, j, block(run, 3, 3, failed))
	synctest.Wait()
	time.Sleep(time.Second) // the ledger has it, and the other nodes know
}

// kept is what a stream has.
func kept(t *testing.T, s *server.Server, name string) (config jetstream.StreamConfig, all []*natsgo.Msg) {
	t.Helper()
	stream, err := client(t, s).Stream(t.Context(), name)
	noError(t, err)
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		if m, err := stream.GetMsg(t.Context(), seq); err == nil {
			all = append(all, &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
		}
	}
	return stream.CachedInfo().Config, all
}

func put(t *testing.T, s *server.Server, all ...*natsgo.Msg) {
	t.Helper()
	for _, m := range all {
		maps.DeleteFunc(m.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Nats-Expected") })
		_, err := client(t, s).PublishMsg(t.Context(), m)
		noError(t, err)
	}
}

// rewrite puts another ledger in the place of the ledgers, as who may write to NATS can.
func rewrite(t *testing.T, s *server.Server, change func([]*natsgo.Msg) []*natsgo.Msg) {
	t.Helper()
	config, all := kept(t, s, "LEDGER")
	js := client(t, s)
	noError(t, js.DeleteStream(t.Context(), "LEDGER"))
	_, err := js.CreateStream(t.Context(), config)
	noError(t, err)
	put(t, s, change(all)...)
}

func without(drop func(i int, m *natsgo.Msg) bool) func([]*natsgo.Msg) []*natsgo.Msg {
	return func(all []*natsgo.Msg) (rest []*natsgo.Msg) {
		for i, m := range all {
			if !drop(i, m) {
				rest = append(rest, m)
			}
		}
		return rest
	}
}

func check(t *testing.T, s *server.Server, runs ...messages.RunID) journal.Report {
	t.Helper()
	r, err := nats.OpenReader(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)))
	noError(t, err)
	report, err := r.Check(t.Context(), runs...)
	noError(t, err)
	noError(t, r.Close())
	return report
}

// "verify RUN checks the run's log and its end in the ledgers, and nothing else"
func TestLedgersOfOneRun(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := signedBy(t, s, 1), signedBy(t, s, 2)
		for _, run := range []messages.RunID{"r_a", "r_b", "r_gone", "r_lost"} {
			end(t, a, run, "a word")
		}
		must(t, a, block("r_open", 0, 1, queued))
		noError(t, b.DeleteLog(t.Context(), "r_gone"))
		stream, err := client(t, s).Stream(t.Context(), "RUNS")
		noError(t, err)
		for _, run := range []string{"r_b", "r_lost"} {
			noError(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject("run."+run+".>")))
		}
		other := serve(t, &server.Options{JetStream: true})
		end(t, open(t, other), "r_b", "a false word")
		_, all := kept(t, other, "RUNS")
		put(t, s, all...)
		for run, want := range map[messages.RunID][3]int{"r_a": {0, 1, 0}, "r_b": {1, 1, 0}, "r_gone": {0, 0, 1}, "r_lost": {1, 0, 0}, "r_open": {0, 1, 0}} {
			r := check(t, s, run)
			if got := [3]int{len(r.Faults), len(r.Logs), len(r.Removed)}; got != want || len(r.Logs) > 0 && (r.Logs[0].Run != run || (len(r.Logs[0].Key) > 0) == (run == "r_open")) {
				t.Errorf("%s: %+v, want %v faults, logs and removals", run, r, want)
			}
		}
		r, err := nats.OpenReader(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)))
		noError(t, err)
		if _, err := r.Check(t.Context(), "r_none"); messages.CodeOf(err) != messages.CodeNotFound {
			t.Errorf("a run that is nowhere: %v", err)
		}
		noError(t, r.Close())
	})
}

// "all ledgers of a cluster together account for every end and every removal, and each change of them or of the logs shows"
func TestLedgers(t *testing.T) {
	purge := func(run string) func(*testing.T, *server.Server) {
		return func(t *testing.T, s *server.Server) {
			stream, err := client(t, s).Stream(t.Context(), "RUNS")
			noError(t, err)
			noError(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject("run."+run+".>")))
		}
	}
	ledger := func(change func([]*natsgo.Msg) []*natsgo.Msg) func(*testing.T, *server.Server) {
		return func(t *testing.T, s *server.Server) { rewrite(t, s, change) }
	}
	for name, of := range map[string]struct {
		change    func(*testing.T, *server.Server)
		untrusted bool // nothing is damaged, but something is not signed
	}{
		"nothing":            {change: func(*testing.T, *server.Server) {}},
		"a run deleted":      {change: purge("r_b")},
		"an old run deleted": {change: purge("r_old")},
		"a run rewritten": {change: func(t *testing.T, s *server.Server) {
			purge("r_a")(t, s)
			other := serve(t, &server.Options{JetStream: true})
			end(t, open(t, other), "r_a", "a false word")
			_, all := kept(t, other, "RUNS")
			put(t, s, all...)
		}},
		"the salt changed": {change: func(t *testing.T, s *server.Server) {
			limit(t, s, "RUNS", func(c *jetstream.StreamConfig) { c.Metadata["lastword-salt"] = strings.Repeat("00", 32) })
		}},
		"the first entry deleted": {change: ledger(without(func(i int, _ *natsgo.Msg) bool { return i == 0 }))},
		"an entry deleted":        {change: ledger(without(func(i int, _ *natsgo.Msg) bool { return i == 2 }))},
		"a node's ledger deleted": {change: ledger(func(all []*natsgo.Msg) []*natsgo.Msg {
			return without(func(_ int, m *natsgo.Msg) bool { return m.Subject == all[3].Subject })(all)
		})},
		"an entry changed": {change: ledger(func(all []*natsgo.Msg) []*natsgo.Msg {
			for _, m := range all {
				m.Data = bytes.ReplaceAll(m.Data, []byte(`"removed"`), []byte(`"expired"`))
			}
			return all
		})},
		"the last entry deleted": {untrusted: true, change: func(t *testing.T, s *server.Server) {
			end(t, signedBy(t, s, 1), "r_last", "a word")
			rewrite(t, s, func(all []*natsgo.Msg) []*natsgo.Msg { return all[:len(all)-1] })
		}},
		"a signature deleted": {untrusted: true, change: ledger(func(all []*natsgo.Msg) []*natsgo.Msg {
			all[1].Header.Set("Lastword-Key", "")
			all[1].Header.Set("Lastword-Signature", "")
			return all
		})},
		"all ledgers deleted": {untrusted: true, change: func(t *testing.T, s *server.Server) {
			noError(t, client(t, s).DeleteStream(t.Context(), "LEDGER"))
		}},
		"a run added": {untrusted: true, change: func(t *testing.T, s *server.Server) { end(t, open(t, s), "r_new", "a word") }},
		"a removed run put back": {untrusted: true, change: func(t *testing.T, s *server.Server) {
			other := serve(t, &server.Options{JetStream: true})
			end(t, open(t, other), "r_gone", "a word")
			_, all := kept(t, other, "RUNS")
			put(t, s, all...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server.Server) {
				old := open(t, s) // its ledger goes, as if it had none
				end(t, old, "r_older", "a word")
				cut := time.Now()
				end(t, old, "r_old", "a word")
				noError(t, client(t, s).DeleteStream(t.Context(), "LEDGER"))
				a, b := signedBy(t, s, 1), signedBy(t, s, 2)
				end(t, a, "r_gone", "a word")
				end(t, b, "r_b", "a word")
				noError(t, b.DeleteLog(t.Context(), "r_gone"))
				_, err := b.Expire(t.Context(), cut, 1<<30)
				noError(t, err)
				end(t, a, "r_a", "a true word")
				end(t, a, "r_c", "a word")
				must(t, a, block("r_open", 0, 1, queued))
				of.change(t, s)
				report := check(t, s)
				l := report.Ledger
				signed := l != nil && l.Unsigned == 0 && l.Unentered == 0
				if clean := name == "nothing"; clean || of.untrusted {
					if len(report.Faults) > 0 || signed != clean {
						t.Errorf("the check says %+v, %+v", report, l)
					}
				} else if len(report.Faults) == 0 {
					t.Errorf("it is not found: %+v, %+v", report, l)
				}
				if name == "nothing" && l != nil && (report.Runs != 5 || l.Entries != 7 || l.Before != 2 || len(l.Keys) != 2 || len(l.Heads) != 2 ||
					len(report.Removed) != 1 || !l.Holds(l.Heads[1].Entries, l.Heads[1].Head)) {
					t.Errorf("the check says %+v, %+v", report, l)
				}
			})
		})
	}
}

// "who takes over a run that ended without an entry writes it before the work item is gone, and a repeated entry does no harm"
func TestLedgerOfTakenOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := signedBy(t, s, 1), signedBy(t, s, 2)
		full := func(most int64) { limit(t, s, "LEDGER", func(c *jetstream.StreamConfig) { c.MaxMsgs = most }) }
		full(1)
		end(t, a, "r_1", "a word")
		c, err := b.Claim(t.Context(), "b")
		noError(t, err)
		if err := b.Keep(t.Context(), c, journal.Ended); err == nil {
			t.Error("the work item is gone, and no ledger has the end")
		}
		if l := check(t, s).Ledger; l.Unentered != 1 || l.Entries != 1 {
			t.Errorf("before, the ledgers are %+v", l)
		}
		full(-1)
		for range 2 {
			noError(t, b.Keep(t.Context(), c, journal.Ended))
			time.Sleep(time.Hour) // the stream forgets the id
		}
		report := check(t, s)
		if l := report.Ledger; len(report.Faults) > 0 || l.Unentered != 0 || l.Entries != 3 || len(l.Keys) != 2 {
			t.Errorf("the check says %+v, %+v", report, l)
		}
	})
}

// "the ledger is there after a year. A log that aged while nobody was there is not missing, and one that went before is"
func TestLedgerAfterAYear(t *testing.T) {
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprint(alone), func(t *testing.T) {
			now, dir := time.Now(), t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(now))
				write := func(run messages.RunID) {
					years(t, dir, func(s *server.Server) {
						j := signedBy(t, s, 1)
						end(t, j, run, "a word")
						noError(t, j.Close())
					})
				}
				write("r_1")
				if !alone { // the retention would have removed it then
					time.Sleep(4 * 24 * time.Hour)
					write("r_2")
				}
				time.Sleep(366 * 24 * time.Hour)
				years(t, dir, func(s *server.Server) {
					report := check(t, s)
					missing := slices.ContainsFunc(report.Faults, func(f journal.Fault) bool { return f.Run == "r_1" })
					if missing == alone || len(report.Faults) > 1 || report.Runs != 0 {
						t.Errorf("the check says %+v, %+v", report, report.Ledger)
					}
				})
			})
		})
	}
}
