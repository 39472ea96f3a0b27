package journal_test

import (
	"crypto/ed25519"
	"testing"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// A ledger that is whole adds up, and each change of it or of the logs is found.
func TestLedger(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	ended := journal.Entry{Kind: journal.EntryEnded, Run: "r_a", Seq: 3, Chain: "c", Opening: 1, Blocks: "b"}
	removed, other := ended, ended
	removed.Run, other.Chain = "r_b", "d"
	gone := removed
	gone.Kind = journal.EntryRemoved
	record := [][]byte{[]byte(`{"run_id":"r_b","seq":3,"chain":"c"}`)}
	ledger := func(entries ...journal.Entry) (signed []journal.SignedEntry) {
		var l journal.Ledger
		for _, e := range entries {
			s, err := l.Seal(e, key)
			must(t, err)
			signed = append(signed, s)
		}
		return signed
	}
	opened := journal.Entry{Kind: journal.EntryOpened, Opening: 1, Salt: "s", Past: journal.Past(nil, nil)}
	merged := ended
	merged.Kind, merged.Blocks = journal.EntryMerged, "m"
	whole := ledger(opened, ended, removed, gone, merged)
	read := func(signed []journal.SignedEntry) (x journal.Ends, err error) {
		for _, s := range signed {
			if err = x.Add("", 0, s); err != nil {
				return x, err
			}
		}
		return x, nil
	}
	x, err := read(whole)
	if err != nil || x.Log.Entries != 5 || len(x.Log.Keys) != 1 || x.Log.Unsigned != 0 || !x.Log.Holds(5, x.Log.Heads[0].Head) || x.Log.Holds(4, x.Log.Heads[0].Head) {
		t.Fatalf("%+v, %v", x.Log, err)
	}
	if e, by, ok := x.End("r_a"); !ok || e.Blocks != "m" || string(by) != string(key.Public().(ed25519.PublicKey)) {
		t.Errorf("the run ended with %+v", e)
	}
	must(t, x.Compare(merged))
	x.Compare(other) // it has no entry, and none ended before the ledger
	if all := append(x.Rest("t", nil), x.Records(nil, 2)...); len(all) != 4 {
		t.Errorf("found %v", all)
	}
	x, _ = read(whole)
	if err := x.Compare(other); err == nil {
		t.Error("another log is not found")
	}
	x, _ = read(whole)
	if all := append(x.Rest("s", record), x.Records(record, 1)...); len(all) != 1 || all[0].Run != "r_a" {
		t.Errorf("a log is missing, found %v", all)
	}
	forged := append([]journal.SignedEntry(nil), whole...)
	forged[1].Signature = whole[2].Signature
	for name, signed := range map[string][]journal.SignedEntry{"a gap": whole[1:], "a signature": forged, "no JSON": {{Line: []byte("{")}},
		"another log merged": ledger(opened, ended, func() journal.Entry { e := merged; e.Chain = "x"; return e }())} {
		if _, err := read(signed); err == nil {
			t.Errorf("%s is not found", name)
		}
	}
}

var must = fatal.IfError
