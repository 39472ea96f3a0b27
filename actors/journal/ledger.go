package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// ledgerForm begins what a ledger's signatures sign.
const ledgerForm = "lastword-ledger/1 "

// EntryKind says what an entry of a ledger is about.
type EntryKind string

// Kinds of entries.
const (
	EntryOpened  EntryKind = "opened"  // a node has opened the store
	EntryEnded   EntryKind = "ended"   // it has written the terminal of a run
	EntryMerged  EntryKind = "merged"  // it has merged the deltas of an ended log, so that its blocks are others
	EntryRemoved EntryKind = "removed" // somebody has removed the log of a run
	EntryExpired EntryKind = "expired" // the retention has removed it
)

// Entry is an entry of a ledger, which a node keeps of the ends that it wrote.
type Entry struct {
	// Number counts the entries from 1. Before is the ledger's head before this entry.
	Number uint64    `json:"entry"`
	Before string    `json:"before"`
	Kind   EntryKind `json:"kind"`
	At     time.Time `json:"at"`
	// Opening counts how often the store was opened.
	Opening int64 `json:"opening,omitempty"`
	// Run, Status, Seq and Chain are those of the log; an entry of the kind opened has none.
	Run    messages.RunID  `json:"run_id,omitempty"`
	Status messages.Status `json:"status,omitempty"`
	Seq    uint64          `json:"seq,omitempty"`
	Chain  string          `json:"chain,omitempty"`
	// Blocks is the hash over the digests of the log's blocks, see [Hash.With].
	Blocks string `json:"blocks,omitempty"`
	// Salt is the digest of the store's salt. Runs and Removed count the runs that had ended, and the records of removed
	// ones, before the ledger began; Past is the digest of their roots. Only the first entry has these.
	Salt    string `json:"salt,omitempty"`
	Runs    int    `json:"runs,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Past    string `json:"past,omitempty"`
}

// Root is a log in one line. Merging its deltas keeps it.
func (e Entry) Root() string { return fmt.Sprintf("%s %d %s %d", e.Run, e.Seq, e.Chain, e.Opening) }

// Missing returns the fault that the log of an ended run, which the entry is about, is not there.
func (e Entry) Missing() Fault {
	return Fault{Run: e.Run, Rule: RuleLedger, Says: fmt.Sprintf("entry %d of the ledger says that it ended, and its log is missing", e.Number)}
}

// SignedEntry is an entry as a store keeps it. Key and Signature are empty if the node had no key.
type SignedEntry struct{ Line, Key, Signature []byte }

// Ledger is a position in a ledger. The head covers all entries up to it.
type Ledger struct {
	Entries uint64
	Head    Hash
}

// Seal numbers and signs the next entry; a nil key leaves it unsigned.
func (l *Ledger) Seal(e Entry, key ed25519.PrivateKey) (s SignedEntry, err error) {
	e.Number, e.Before, e.At = l.Entries+1, l.Head.String(), e.At.UTC()
	if s.Line, err = json.Marshal(e); err != nil {
		return s, err
	}
	if len(key) == ed25519.PrivateKeySize {
		s.Key = key.Public().(ed25519.PublicKey)
		s.Signature = ed25519.Sign(key, append([]byte(ledgerForm), s.Line...))
	}
	l.Entries, l.Head = e.Number, sha256.Sum256(s.Line)
	return s, nil
}

// Check checks that the entry is the next one, and that the key that it names has signed it. The caller decides whether
// to trust the key.
func (l *Ledger) Check(s SignedEntry) (e Entry, err error) {
	says := ""
	switch err := json.Unmarshal(s.Line, &e); {
	case err != nil:
		says = "is damaged"
	case e.Number != l.Entries+1 || e.Before != l.Head.String():
		says = "does not follow the one before it"
	case len(s.Key) == 0 && len(s.Signature) == 0:
	case len(s.Key) != ed25519.PublicKeySize || !ed25519.Verify(s.Key, append([]byte(ledgerForm), s.Line...), s.Signature):
		says = "has a signature that does not fit it"
	}
	if says != "" {
		return e, &Fault{Rule: RuleLedger, Says: fmt.Sprintf("entry %d of the ledger %s", l.Entries+1, says)}
	}
	l.Entries, l.Head = e.Number, sha256.Sum256(s.Line)
	return e, nil
}

// Past is the digest of the roots, in any order, and of the records of removed logs.
func Past(roots []string, removed [][]byte) string {
	h := sha256.New()
	for _, root := range slices.Sorted(slices.Values(roots)) {
		fmt.Fprintln(h, root)
	}
	for _, line := range removed {
		fmt.Fprintf(h, "%s\n", line)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// LedgerLog summarizes a ledger that was checked.
type LedgerLog struct {
	// Head is the head after the last of the Entries: who keeps both elsewhere can prove later that nothing is missing.
	Entries uint64 `json:"entries"`
	Head    string `json:"head"`
	// Before counts the runs that had ended before the ledger began.
	Before int `json:"before"`
	// Unsigned counts the entries without a signature. Keys have signed the others.
	Unsigned int      `json:"unsigned"`
	Keys     [][]byte `json:"keys,omitempty"`
	heads    []string // after each entry
}

// Holds reports whether the ledger had the head after so many entries.
func (l *LedgerLog) Holds(entries uint64, head string) bool {
	return entries > 0 && entries <= uint64(len(l.heads)) && l.heads[entries-1] == head
}

// Ends adds up the entries of a ledger, to compare them with the logs that are there. The zero value is ready.
type Ends struct {
	Log   LedgerLog
	at    Ledger
	first Entry
	last  int64                        // the number of the last opening
	ends  map[messages.RunID]signedEnd // of the logs that must be there
	gone  []Entry                      // the removals
	past  []string                     // roots of the runs that ended before the ledger
}

type signedEnd struct {
	Entry
	key []byte
}

// Add checks the next entry. The error is a [*Fault].
func (x *Ends) Add(s SignedEntry) error {
	e, err := x.at.Check(s)
	if err != nil {
		return err
	}
	x.Log.Entries, x.Log.Head = x.at.Entries, x.at.Head.String()
	x.Log.heads = append(x.Log.heads, x.Log.Head)
	if len(s.Key) == 0 {
		x.Log.Unsigned++
	} else if !slices.ContainsFunc(x.Log.Keys, func(k []byte) bool { return string(k) == string(s.Key) }) {
		x.Log.Keys = append(x.Log.Keys, s.Key)
	}
	if x.ends == nil {
		x.first, x.ends, x.Log.Before = e, map[messages.RunID]signedEnd{}, e.Runs
	}
	switch e.Kind {
	case EntryOpened:
		x.last = e.Opening
	case EntryEnded:
		x.ends[e.Run] = signedEnd{e, s.Key}
	case EntryMerged:
		if end := x.ends[e.Run]; end.Root() != e.Root() {
			return otherEnd(e.Run, "the log that was merged")
		}
		x.ends[e.Run] = signedEnd{e, s.Key}
	default:
		x.gone = append(x.gone, e)
		if end, ok := x.ends[e.Run]; !ok {
			x.past = append(x.past, e.Root())
		} else if end.Root() != e.Root() {
			err = otherEnd(e.Run, "the log that was removed")
		}
		delete(x.ends, e.Run)
	}
	return err
}

func otherEnd(run messages.RunID, log string) error {
	return &Fault{Run: run, Rule: RuleLedger, Says: log + " is not the one that the run ended with"}
}

// End returns the newest entry about the run's end, and the key that signed it.
func (x *Ends) End(run messages.RunID) (e Entry, key []byte, ok bool) {
	end, ok := x.ends[run]
	return end.Entry, end.key, ok
}

// Compare compares the root of an ended run's log with its entry. A run without an entry must have ended before the
// ledger began, which [Ends.Rest] judges. The error is a [*Fault].
func (x *Ends) Compare(e Entry) error {
	end, ok := x.ends[e.Run]
	delete(x.ends, e.Run)
	switch {
	case !ok:
		x.past = append(x.past, e.Root())
	case end.Root() != e.Root() || end.Blocks != e.Blocks:
		return &Fault{Run: e.Run, Seq: e.Seq, Rule: RuleLedger,
			Says: fmt.Sprintf("the log is not the one that entry %d of the ledger is about", end.Number)}
	}
	return nil
}

// Rest returns what is missing after all logs were compared, and what does not fit the store itself: its records of
// removed logs in JSON, its salt's digest, and how often it was opened.
func (x *Ends) Rest(removed [][]byte, salt string, opening int64) (all []Fault) {
	add := func(format string, args ...any) {
		all = append(all, Fault{Rule: RuleLedger, Says: fmt.Sprintf(format, args...)})
	}
	for _, end := range x.ends {
		all = append(all, end.Missing())
	}
	slices.SortFunc(all, func(a, b Fault) int { return int(x.ends[a.Run].Number) - int(x.ends[b.Run].Number) })
	before := min(x.first.Removed, len(removed))
	recorded := map[string]int{}
	for _, line := range removed[before:] {
		var gone Removed
		if json.Unmarshal(line, &gone) == nil {
			recorded[fmt.Sprint(gone.Run, gone.Seq, gone.Chain)]++
		}
	}
	for _, e := range x.gone {
		if e.Kind == EntryRemoved {
			recorded[fmt.Sprint(e.Run, e.Seq, e.Chain)]--
		}
	}
	for _, n := range recorded {
		if n != 0 {
			add("the records of removed runs are not those of the ledger")
			break
		}
	}
	if len(x.past) != x.first.Runs || Past(x.past, removed[:before]) != x.first.Past {
		add("the runs without an entry are not the %d that ended before the ledger began", x.first.Runs)
	}
	if salt != x.first.Salt {
		add("the salt is not that of the ledger")
	}
	if opening != x.last {
		add("the store says that it was opened %d times, the ledger %d", opening, x.last)
	}
	return all
}
