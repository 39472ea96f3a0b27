package testkit_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// brokenJournals do not keep the contract; each has the beginning of the subtest that has to fail it. The first two
// are sound.
var brokenJournals = map[string]struct {
	caught string
	open   func(*testing.T) (journal.Journal, journal.Reader)
}{
	"is sound": {"", disturb(testkit.Disturbance{})},
	"is slow":  {"", disturb(testkit.Disturbance{Delay: 50 * time.Millisecond})},

	"blocks":        {"blocks are read", disturb(testkit.Disturbance{Delay: 2 * time.Millisecond, Block: true})},
	"panics":        {"blocks are read", disturb(testkit.Disturbance{Panic: true})},
	"answers twice": {"blocks are read", disturb(testkit.Disturbance{Twice: true})},
	"never answers": {"blocks are read", disturb(testkit.Disturbance{Late: true})},
	"lies":          {"blocks are read", disturb(testkit.Disturbance{Lose: true})},

	"refuses what lands":         {"blocks are read", says(nil, journal.ErrRefused)},
	"says that all landed":       {"of four writers", says(journal.ErrFenced, nil)},
	"says fenced for sealed":     {"nothing follows a terminal", says(journal.ErrSealed, journal.ErrFenced)},
	"does not know":              {"blocks are read", says(nil, journal.ErrUnknown)},
	"loses messages":             {"blocks are read", events(func(e *messages.Event) { e.Message = "" })},
	"truncates times":            {"blocks are read", events(truncate)},
	"takes any head":             {"a block at another head", alter(&altered{append: anyHead})},
	"forgets ids":                {"the same block lands once", alter(&altered{append: forgetIDs})},
	"acknowledges early":         {"what is read is durable", alter(&altered{append: early})},
	"finds no ids":               {"a block that landed unheard", pages(func(p *journal.Page) { p.Blocks = nil })},
	"changes its blocks":         {"the digests of its blocks prove a log", alter(&altered{block: func(b *journal.StoredBlock) { b.Epoch++ }})},
	"refuses what it might take": {"a block that has no JSON", alter(&altered{append: tryAgain})},
	"has no head past the end":   {"a head says", pages(headOfBatch)},
	"shows what is not durable":  {"what is read is durable", openEager},

	"lends twice":           {"of two claimers", alter(&altered{claim: twice})},
	"lends what is held":    {"a claim that is held", ignores(journal.Held)},
	"takes nothing back":    {"a claim that was released", ignores(journal.Released)},
	"lends once":            {"a claim that is held", alter(&altered{claim: once})},
	"lends what ended":      {"a run that ended", alter(&altered{claim: revived, keep: remember})},
	"tells nothing":         {"a watch tells", tells(func(n journal.Note) bool { return n.Run == "" })},
	"tells no commands":     {"a command reaches", tells(func(n journal.Note) bool { return n.Command == nil })},
	"has no first note":     {"a watch tells", tells(func(n journal.Note) bool { return n.Run != "" })},
	"expires parts of logs": {"logs expire by age", openForgetful},
}

// TestBrokenJournals holds that the suite fails every journal that is broken. The suite runs in another process.
func TestBrokenJournals(t *testing.T) {
	const variable = "LASTWORD_BROKEN_JOURNALS"
	if os.Getenv(variable) != "" {
		for name, c := range brokenJournals {
			t.Run(name, func(t *testing.T) { testkit.TestJournal(t, c.open) })
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenJournals$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), variable+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("no journal failed")
	}
	for name, c := range brokenJournals {
		want := "--- FAIL: TestBrokenJournals/" + strings.ReplaceAll(name+"/"+c.caught, " ", "_")
		if c.caught == "" {
			want = "--- PASS: TestBrokenJournals/" + strings.ReplaceAll(name, " ", "_") + " "
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("a journal that %s: the suite does not say %q", name, want)
		}
	}
	if t.Failed() {
		t.Logf("the suite said\n%s", out)
	}
}

func disturb(d testkit.Disturbance) func(*testing.T) (journal.Journal, journal.Reader) {
	return func(*testing.T) (journal.Journal, journal.Reader) {
		kept := journal.NewMemory()
		return &testkit.Journal{Journal: kept, Disturb: func(journal.Block) testkit.Disturbance { return d }}, kept
	}
}

// altered is a memory journal that does some things otherwise.
type altered struct {
	journal.Journal
	append func(j journal.Journal, b journal.Block, done func(error))
	claim  func(j *altered, ctx context.Context, node string) (journal.Claim, error)
	keep   func(j *altered, ctx context.Context, c journal.Claim, k journal.ClaimState) error
	page   func(*journal.Page)
	tells  func(journal.Note) bool
	block  func(*journal.StoredBlock)

	mu    sync.Mutex
	known []journal.Claim
}

func alter(a *altered) func(*testing.T) (journal.Journal, journal.Reader) {
	return func(*testing.T) (journal.Journal, journal.Reader) {
		kept := journal.NewMemory()
		return &altered{Journal: kept, append: a.append, claim: a.claim, keep: a.keep, page: a.page, tells: a.tells, block: a.block}, kept
	}
}

func (j *altered) Append(b journal.Block, done func(error)) {
	if j.append == nil {
		j.Journal.Append(b, done)
		return
	}
	j.append(j.Journal, b, done)
}

func (j *altered) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	page, err := j.Journal.Read(ctx, run, after)
	if err == nil && j.page != nil {
		j.page(&page)
	}
	return page, err
}

func (j *altered) Blocks(ctx context.Context, run messages.RunID) iter.Seq2[journal.StoredBlock, error] {
	return func(yield func(journal.StoredBlock, error) bool) {
		for b, err := range j.Journal.Blocks(ctx, run) {
			if j.block != nil {
				j.block(&b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

func (j *altered) Claim(ctx context.Context, node string) (journal.Claim, error) {
	if j.claim == nil {
		return j.Journal.Claim(ctx, node)
	}
	return j.claim(j, ctx, node)
}

func (j *altered) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if j.keep == nil {
		return j.Journal.Keep(ctx, c, k)
	}
	return j.keep(j, ctx, c, k)
}

func (j *altered) Watch(ctx context.Context, self string, fn func(journal.Note)) error {
	return j.Journal.Watch(ctx, self, func(n journal.Note) {
		if j.tells == nil || j.tells(n) {
			fn(n)
		}
	})
}

// says answers otherwise where the answer is the given one.
func says(instead, err error) func(*testing.T) (journal.Journal, journal.Reader) {
	return alter(&altered{append: func(j journal.Journal, b journal.Block, done func(error)) {
		j.Append(b, func(got error) {
			if got == instead {
				got = err
			}
			done(got)
		})
	}})
}

func events(change func(*messages.Event)) func(*testing.T) (journal.Journal, journal.Reader) {
	return alter(&altered{append: func(j journal.Journal, b journal.Block, done func(error)) {
		b.Events = slices.Clone(b.Events)
		for i := range b.Events {
			change(&b.Events[i])
		}
		j.Append(b, done)
	}})
}

func truncate(e *messages.Event) { e.Time = e.Time.Truncate(time.Microsecond) }

func pages(change func(*journal.Page)) func(*testing.T) (journal.Journal, journal.Reader) {
	return alter(&altered{page: change})
}

func tells(which func(journal.Note) bool) func(*testing.T) (journal.Journal, journal.Reader) {
	return alter(&altered{tells: which})
}

func ignores(which journal.ClaimState) func(*testing.T) (journal.Journal, journal.Reader) {
	return alter(&altered{keep: func(j *altered, ctx context.Context, c journal.Claim, k journal.ClaimState) error {
		if k == which {
			return nil
		}
		return j.Journal.Keep(ctx, c, k)
	}})
}

// anyHead appends at whatever head there is.
func anyHead(j journal.Journal, b journal.Block, done func(error)) {
	if page, err := j.Read(context.Background(), b.Run, 0); err == nil && !page.Head.Ended {
		b.After.Seq = page.Head.Seq
		b.Events = slices.Clone(b.Events)
		for i := range b.Events {
			b.Events[i] = renumber(b.Events[i], page.Head.Seq+1+uint64(i))
		}
	}
	j.Append(b, done)
}

// tryAgain says of a block that has no JSON that a later try may land.
func tryAgain(j journal.Journal, b journal.Block, done func(error)) {
	for _, e := range b.Events {
		if _, err := e.JSON(); err != nil {
			done(journal.ErrRefused)
			return
		}
	}
	j.Append(b, done)
}

func forgetIDs(j journal.Journal, b journal.Block, done func(error)) {
	copy(b.ID[:], messages.NewRunID()[2:])
	j.Append(b, done)
}

func early(j journal.Journal, b journal.Block, done func(error)) {
	done(nil)
	time.AfterFunc(10*time.Millisecond, func() { j.Append(b, func(error) {}) })
}

func headOfBatch(p *journal.Page) {
	if len(p.Events) == 0 {
		p.Head = journal.Head{}
	}
}

// eager reads from what was sent, and appends later.
type eager struct {
	journal.Journal
	sent *journal.Memory
}

func openEager(*testing.T) (journal.Journal, journal.Reader) {
	kept := journal.NewMemory()
	late := func(journal.Block) testkit.Disturbance { return testkit.Disturbance{Delay: 10 * time.Millisecond} }
	return eager{&testkit.Journal{Journal: kept, Disturb: late}, journal.NewMemory()}, kept
}

func (j eager) Append(b journal.Block, done func(error)) {
	j.sent.Append(b, func(error) {})
	j.Journal.Append(b, done)
}

func (j eager) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	return j.sent.Read(ctx, run, after)
}

// forgetful forgets the beginnings of logs.
type forgetful struct {
	journal.Journal
	forgot bool
}

func openForgetful(*testing.T) (journal.Journal, journal.Reader) {
	j := &forgetful{Journal: journal.NewMemory()}
	return j, j
}

func (j *forgetful) Expire(ctx context.Context, before time.Time, bytes int64) (int, error) {
	j.forgot = true
	return j.Journal.Expire(ctx, before, bytes)
}

func (j *forgetful) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if j.forgot {
		after = max(after, 1)
	}
	return j.Journal.Read(ctx, run, after)
}

// twice lends every claim again, at once.
func twice(j *altered, ctx context.Context, node string) (journal.Claim, error) {
	if c, ok := j.pop(); ok {
		return c, nil
	}
	c, err := j.Journal.Claim(ctx, node)
	if err == nil {
		j.push(c)
	}
	return c, err
}

// once lends no run twice.
func once(j *altered, ctx context.Context, node string) (journal.Claim, error) {
	for {
		c, err := j.Journal.Claim(ctx, node)
		if err != nil || j.push(c) {
			return c, err
		}
	}
}

// revived lends what ended.
func revived(j *altered, ctx context.Context, node string) (journal.Claim, error) {
	if c, ok := j.pop(); ok {
		return c, nil
	}
	return j.Journal.Claim(ctx, node)
}

func remember(j *altered, ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if k == journal.Ended {
		j.push(c)
	}
	return j.Journal.Keep(ctx, c, k)
}

// push reports whether the claim was not there.
func (j *altered) push(c journal.Claim) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if slices.ContainsFunc(j.known, func(k journal.Claim) bool { return k.Run == c.Run }) {
		return false
	}
	j.known = append(j.known, c)
	return true
}

func (j *altered) pop() (c journal.Claim, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.known) == 0 {
		return c, false
	}
	c, j.known = j.known[0], j.known[1:]
	return c, true
}
