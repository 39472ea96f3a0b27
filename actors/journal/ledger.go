package journal

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// ledgerForm begins what a ledger's signatures sign.
const ledgerForm = "lastword-ledger/1 "

// EntryKind says what an entry of a ledger is about.
type EntryKind string

// Kinds of entries.
const (
	EntryOpened  EntryKind = "opened"  // a node has opened the store, or begun the first of several ledgers
	EntryEnded   EntryKind = "ended"   // it has written the terminal of a run
	EntryMerged  EntryKind = "merged"  // it has merged the deltas of an ended log, so that its blocks are others
	EntryRemoved EntryKind = "removed" // somebody has removed the log of a run
	EntryExpired EntryKind = "expired" // the retention has removed it
)

// Entry is an entry of a node's ledger. It says what happened to the log of a run; its kind says what.
type Entry struct {
	// Number counts the entries from 1. Before is the ledger's head before this entry. Where several ledgers share a
	// store, After is the store's position of the entry before.
	Number uint64    `json:"entry"`
	Before string    `json:"before"`
	After  uint64    `json:"after,omitempty"`
	Kind   EntryKind `json:"kind"`
	At     time.Time `json:"at"`
	// Opening counts how often the store was opened.
	Opening int64 `json:"opening,omitempty"`
	// Run, Status, Seq and Chain describe the log; an entry of the kind opened has none.
	Run    messages.RunID  `json:"run_id,omitempty"`
	Status messages.Status `json:"status,omitempty"`
	Seq    uint64          `json:"seq,omitempty"`
	Chain  string          `json:"chain,omitempty"`
	// Blocks is the hash over the digests of the log's blocks, see [Hash.With], or "" if it is unknown.
	Blocks string `json:"blocks,omitempty"`
	// Position is the place of the log's last block in a store of several ledgers. The first entry has the position that the
	// store had: no log that ended up to it has an entry of its end.
	Position uint64 `json:"position,omitempty"`
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

// SaltDigest returns what the first entry says of the store's salt.
func SaltDigest(salt []byte) string {
	digest := sha256.Sum256(salt)
	return hex.EncodeToString(digest[:])
}

// Signer has the key that signs entries. It keeps what Read returns for a second, so that a new key signs soon, and most
// entries cost no reading.
type Signer struct {
	Read func() (ed25519.PrivateKey, error) // nil: nothing is signed
	mu   sync.Mutex
	key  ed25519.PrivateKey
	till time.Time
}

// Key returns the key, or nil.
func (s *Signer) Key() ed25519.PrivateKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.Read != nil && !now.Before(s.till) {
		if key, err := s.Read(); err == nil {
			s.key = key
		}
		s.till = now.Add(time.Second)
	}
	return s.key
}

// SignedEntry is an entry as a store keeps it. Key and Signature are empty if the node had no key.
type SignedEntry struct{ Line, Key, Signature []byte }

// Ledger is a position in a ledger. The head covers all entries up to it. At is the position of the newest one in a
// store of several ledgers.
type Ledger struct {
	Entries uint64
	Head    Hash
	At      uint64
}

// Seal numbers and signs the next entry; a nil key leaves it unsigned.
func (l *Ledger) Seal(e Entry, key ed25519.PrivateKey) (s SignedEntry, err error) {
	e.Number, e.Before, e.After, e.At = l.Entries+1, l.Head.String(), l.At, time.Now().UTC()
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
	case e.Number != l.Entries+1 || e.Before != l.Head.String() || e.After != l.At:
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

// LedgerLog summarizes the ledgers of a store after a check.
type LedgerLog struct {
	Entries uint64 `json:"entries"`
	// Heads are those after the last entry of each ledger: who keeps them elsewhere can prove later that nothing is missing.
	Heads []LedgerHead `json:"heads"`
	// Before counts the runs that had ended before the first ledger began. Unentered counts those that have ended since
	// without an entry: a node without a ledger wrote their ends, or a node that no longer exists.
	Before    int `json:"before"`
	Unentered int `json:"unentered,omitempty"`
	// Unsigned counts the entries without a signature. Keys have signed the others.
	Unsigned int               `json:"unsigned"`
	Keys     [][]byte          `json:"keys,omitempty"`
	had      map[string]uint64 // the number of entries by the head after them
	first    []time.Time       // of the entries that each of the Keys has signed
}

// LedgerHead is the head of a ledger after its entries. Ledger is its name if the store has several.
type LedgerHead struct {
	Ledger  string `json:"ledger,omitempty"`
	Entries uint64 `json:"entries"`
	Head    string `json:"head"`
}

// First returns the time of the first entry that Keys[i] has signed.
func (l *LedgerLog) First(i int) time.Time { return l.first[i] }

// Holds reports whether a ledger had the head after so many entries.
func (l *LedgerLog) Holds(entries uint64, head string) bool {
	return entries > 0 && l.had[head] == entries
}

// Ends adds up the entries of a store's ledgers, to compare them with the logs that are there. The zero value is ready.
type Ends struct {
	Log   LedgerLog
	at    []Ledger // by the index in Log.Heads
	first Entry
	last  int64                        // the number of the last opening
	ends  map[messages.RunID]signedEnd // of the logs that must be there
	gone  map[uint64]Entry             // the removals, see [Entry.place]
	past  []string                     // roots of the runs that ended before the ledger
	times []time.Time                  // of all entries, sorted
}

type signedEnd struct {
	Entry
	key []byte
}

// Add checks the next entry of the ledger with the name, at the position of a store of several. The error is a [*Fault].
func (x *Ends) Add(ledger string, position uint64, s SignedEntry) error {
	i := slices.IndexFunc(x.Log.Heads, func(h LedgerHead) bool { return h.Ledger == ledger })
	if i < 0 {
		i = len(x.at)
		x.at, x.Log.Heads = append(x.at, Ledger{}), append(x.Log.Heads, LedgerHead{Ledger: ledger})
	}
	at := &x.at[i]
	e, err := at.Check(s)
	if err != nil {
		return err
	}
	at.At = position
	if x.ends == nil {
		x.first, x.Log.Before, x.Log.had = e, e.Runs, map[string]uint64{}
		x.ends, x.gone = map[messages.RunID]signedEnd{}, map[uint64]Entry{}
	}
	head := LedgerHead{ledger, at.Entries, at.Head.String()}
	x.Log.Heads[i], x.Log.had[head.Head] = head, head.Entries
	x.Log.Entries++
	later := sort.Search(len(x.times), func(i int) bool { return x.times[i].After(e.At) }) // clocks of nodes differ
	x.times = slices.Insert(x.times, later, e.At)
	if len(s.Key) == 0 {
		x.Log.Unsigned++
	} else if !slices.ContainsFunc(x.Log.Keys, func(k []byte) bool { return string(k) == string(s.Key) }) {
		x.Log.Keys, x.Log.first = append(x.Log.Keys, s.Key), append(x.Log.first, e.At)
	}
	return x.count(e, s.Key)
}

// count adds up an entry. A node that has taken over may repeat one.
func (x *Ends) count(e Entry, key []byte) error {
	end, ended := x.ends[e.Run]
	gone := x.isGone(e)
	switch {
	case e.Kind == EntryOpened:
		x.last = e.Opening
	case gone:
	case e.Kind == EntryEnded:
		x.ends[e.Run] = signedEnd{e, key}
	case e.Kind == EntryMerged:
		if end.Root() != e.Root() {
			return otherEnd(e.Run, "the log that was merged")
		}
		x.ends[e.Run] = signedEnd{e, key}
	default:
		x.gone[e.place()] = e
		delete(x.ends, e.Run)
		if ended && end.Root() != e.Root() {
			return otherEnd(e.Run, "the log that was removed")
		}
		if !ended && e.Position <= x.first.Position {
			x.past = append(x.past, e.Root())
		}
	}
	return nil
}

// place tells removals apart: by the position of the log, or in a store of one ledger by the number of the entry.
func (e Entry) place() uint64 { return cmp.Or(e.Position, e.Number) }

func (x *Ends) isGone(e Entry) bool {
	was, gone := x.gone[e.place()]
	return gone && was.Root() == e.Root()
}

func otherEnd(run messages.RunID, log string) error {
	return &Fault{Run: run, Rule: RuleLedger, Says: log + " is not the one that the run ended with"}
}

// End returns the newest entry about the run's end, and the key that signed it.
func (x *Ends) End(run messages.RunID) (e Entry, key []byte, ok bool) {
	end, ok := x.ends[run]
	return end.Entry, end.key, ok
}

// IsQuiet reports whether the ledgers have no entry between the times: no node was there to remove a log.
func (x *Ends) IsQuiet(from, to time.Time) bool {
	i := sort.Search(len(x.times), func(i int) bool { return x.times[i].After(from) })
	return i == len(x.times) || !x.times[i].Before(to)
}

// Left returns the entries of the ends that were not compared.
func (x *Ends) Left() (all []Entry) {
	for _, end := range x.ends {
		all = append(all, end.Entry)
	}
	stable.Sort(all, func(a, b Entry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Number, b.Number)) })
	return all
}

// Compare compares the root of an ended run's log with its entry. A run without an entry must have ended before the
// ledger began, which [Ends.Rest] judges, or is counted. The error is a [*Fault].
func (x *Ends) Compare(e Entry) error {
	end, ok := x.ends[e.Run]
	delete(x.ends, e.Run)
	switch {
	case ok && (end.Root() != e.Root() || end.Blocks != "" && end.Blocks != e.Blocks):
		return &Fault{Run: e.Run, Seq: e.Seq, Rule: RuleLedger,
			Says: fmt.Sprintf("the log is not the one that entry %d of the ledger is about", end.Number)}
	case ok, e.Position > 0 && x.isGone(e): // it is about to be removed
	case e.Position <= x.first.Position:
		x.past = append(x.past, e.Root())
	default:
		x.Log.Unentered++
	}
	return nil
}

// Removed returns the logs that somebody has removed, in the order of time.
func (x *Ends) Removed() (all []Removed) {
	for _, e := range x.gone {
		if e.Kind == EntryRemoved {
			all = append(all, Removed{Log{Run: e.Run, Status: e.Status, Seq: e.Seq, Chain: e.Chain}, e.At})
		}
	}
	stable.Sort(all, func(a, b Removed) int { return a.RemovedAt.Compare(b.RemovedAt) })
	return all
}

// Rest returns what is missing after all logs were compared, and what does not fit the store: the digest of its salt, and
// its records of removed logs in JSON, which the first entry sums up.
func (x *Ends) Rest(salt string, records [][]byte) (all []Fault) {
	for _, end := range x.Left() {
		all = append(all, end.Missing())
	}
	if len(x.past) != x.first.Runs || Past(x.past, records[:min(x.first.Removed, len(records))]) != x.first.Past {
		all = append(all, Fault{Rule: RuleLedger,
			Says: fmt.Sprintf("the runs without an entry are not the %d that ended before the ledger began", x.first.Runs)})
	}
	if salt != x.first.Salt {
		all = append(all, Fault{Rule: RuleLedger, Says: "the salt does not belong to the ledger"})
	}
	return all
}

// Records compares the records of removed logs, and how often the store was opened, with the entries.
func (x *Ends) Records(records [][]byte, opening int64) (all []Fault) {
	recorded := map[string]int{}
	for _, line := range records[min(x.first.Removed, len(records)):] {
		var gone Removed
		if json.Unmarshal(line, &gone) == nil {
			recorded[fmt.Sprint(gone.Run, gone.Seq, gone.Chain)]++
		}
	}
	for _, gone := range x.Removed() {
		recorded[fmt.Sprint(gone.Run, gone.Seq, gone.Chain)]--
	}
	for _, n := range recorded {
		if n != 0 {
			all = append(all, Fault{Rule: RuleLedger, Says: "the records of removed runs differ from the ledger"})
			break
		}
	}
	if opening != x.last {
		all = append(all, Fault{Rule: RuleLedger, Says: fmt.Sprintf("the store says that it was opened %d times, the ledger %d", opening, x.last)})
	}
	return all
}
