package sqlite_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// child is what this test binary does instead of testing, when the variable names a directory.
const child = "LASTWORD_SQLITE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		appendForEver(dir)
	}
	os.Exit(m.Run())
}

var ids struct {
	sync.Mutex
	n uint64
}

// block makes a block of the bodies after the number.
func block(run messages.RunID, after uint64, bodies ...messages.Body) journal.Block {
	ids.Lock()
	defer ids.Unlock()
	ids.n++
	b := journal.Block{Run: run, After: journal.Head{Seq: after}, Writer: "test"}
	binary.BigEndian.PutUint64(b.ID[:], uint64(os.Getpid()))
	binary.BigEndian.PutUint64(b.ID[8:], ids.n)
	for i, body := range bodies {
		seq := after + 1 + uint64(i)
		b.Events = append(b.Events, messages.Event{RunID: run, Seq: seq, From: seq, Time: time.Now().UTC(), Body: body})
	}
	return b
}

func appended(j journal.Journal, b journal.Block) error {
	answer := make(chan error, 1)
	j.Append(b, func(err error) { answer <- err })
	return <-answer
}

func mustAppend(t *testing.T, j journal.Journal, blocks ...journal.Block) {
	t.Helper()
	for _, b := range blocks {
		must(t, appended(j, b))
	}
}

var (
	queued  = messages.RunQueued{Job: "test", Mode: messages.Detached, Labels: map[string]string{"topic": "parks"}}
	started = messages.RunStarted{Node: "test", Epoch: 1}
	begun   = messages.TaskStarted{Task: "write", Attempt: 1}
	done    = messages.TaskCompleted{Task: "write", Attempt: 1}
	success = messages.RunCompleted{By: messages.ByRun, Artifacts: []messages.Artifact{}}
)

func said(n int, text string) messages.Body {
	return messages.TextDelta{Stream: "write", Task: "write", Index: uint64(n), Offset: n * len(text), Text: text}
}

// talk appends a run that says a text so many times, in a block each, and ends.
func talk(t *testing.T, j journal.Journal, run messages.RunID, n int, text string) {
	t.Helper()
	mustAppend(t, j, block(run, 0, queued), block(run, 1, started, begun))
	for i := range n {
		mustAppend(t, j, block(run, uint64(3+i), said(i, text)))
	}
	mustAppend(t, j, block(run, uint64(3+n), done, success))
}

// appendForEver appends to runs of its own, and says what was acknowledged.
func appendForEver(dir string) {
	j, err := sqlite.Open(dir)
	if err != nil {
		panic(err)
	}
	var out sync.Mutex
	var all sync.WaitGroup
	all.Add(8)
	for i := range 8 {
		go func() {
			run := messages.RunID(fmt.Sprintf("r_%d_%d", os.Getpid(), i))
			for after := uint64(0); ; {
				bodies := []messages.Body{said(int(after)-3, "word ")}
				if after == 0 {
					bodies = []messages.Body{queued, started, begun}
				}
				b := block(run, after, bodies...)
				if err := appended(j, b); err != nil {
					panic(err)
				}
				after = b.Head().Seq
				out.Lock()
				fmt.Println(run, after)
				out.Unlock()
				if len(bodies) > 1 { // every run is acknowledged once, before any goes on
					all.Done()
					all.Wait()
				}
			}
		}()
	}
	select {}
}

// killed has a process append to the directory, and kills it after some acknowledgements.
func killed(t *testing.T, dir string, after int, acknowledged func(messages.RunID, uint64)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		var run messages.RunID
		var seq uint64
		if _, err := fmt.Sscan(lines.Text(), &run, &seq); err != nil {
			break // cut in the middle of a line
		}
		acknowledged(run, seq)
		if n == after {
			_ = cmd.Process.Kill() // and go on reading what it said until then
		}
	}
	_ = cmd.Wait()
}

// "kill -9 or a power cut never loses a milestone that was seen."
func TestKill(t *testing.T) {
	dir, acknowledged := t.TempDir(), map[messages.RunID]uint64{}
	for cycle := range 10 {
		killed(t, dir, 50+37*cycle, func(run messages.RunID, seq uint64) { acknowledged[run] = seq })
	}
	if len(acknowledged) != 80 {
		t.Errorf("%d runs in 10 cycles, want 80", len(acknowledged))
	}
	j, _ := open(t, dir)
	for run, seq := range acknowledged {
		page, err := j.Read(t.Context(), run, seq-1)
		if err != nil || page.Head.Seq < seq || page.Head.Seq > seq+1 {
			t.Errorf("%s was acknowledged up to %d, and its head is %d (%v)", run, seq, page.Head.Seq, err)
		}
	}
	sound(t, dir, len(acknowledged))
}

// sound checks the directory.
func sound(t *testing.T, dir string, runs int) {
	t.Helper()
	report, err := sqlite.Check(t.Context(), dir)
	if err != nil || len(report.Faults) > 0 || report.Runs != runs {
		t.Errorf("of %d runs the check says %+v, %v", runs, report, err)
	}
}

// refuses checks that an append is refused, with a text that says why.
func refuses(t *testing.T, j journal.Journal, b journal.Block, why string) {
	t.Helper()
	err := appended(j, b)
	if !errors.Is(err, journal.ErrRefused) || messages.CodeOf(err) != messages.CauseJournalUnavailable || !strings.Contains(err.Error(), why) {
		t.Errorf("the append ended with %v, want a refusal that says %q", err, why)
	}
}

func TestFullDisk(t *testing.T) {
	dir := smallDisk(t)
	j, r := open(t, dir)
	mustAppend(t, j, block("r_a", 0, queued, started, begun), block("r_b", 0, queued, started, begun))
	big, after := strings.Repeat("x", 64<<10), uint64(3)
	for {
		b := block("r_a", after, said(int(after)-3, big))
		if err := appended(j, b); err != nil {
			refuses(t, j, b, "is full: free some space")
			break
		}
		after++
	}
	large := queued
	large.Labels = map[string]string{"topic": big}
	refuses(t, j, block("r_new", 0, large), "is full")
	for name, reader := range map[string]journal.Reader{"the journal": j, "another reader": r} {
		if page, err := reader.Read(t.Context(), "r_a", after-1); err != nil || page.Head.Seq != after {
			t.Errorf("%s reads up to %d, want %d (%v)", name, page.Head.Seq, after, err)
		}
	}
	must(t, os.Remove(filepath.Join(dir, "ballast")))
	mustAppend(t, j, block("r_b", 3, said(0, "it goes on")), block("r_new", 0, queued))
	sound(t, dir, 3)
}

// smallDisk mounts a disk of a few megabytes, half of it a file named ballast.
func smallDisk(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=4m,mode=0755", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	must(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 2<<20), 0o600))
	return dir
}

// "One process owns a directory; another is told who, and can read."
func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	if owner, found := sqlite.FindOwner(dir); found {
		t.Errorf("nobody owns an empty directory, but %+v", owner)
	}
	j, _ := open(t, dir)
	must(t, j.Announce("http://127.0.0.1:8080"))
	owner, found := sqlite.FindOwner(dir)
	if !found || owner.PID != os.Getpid() || owner.URL != "http://127.0.0.1:8080" || time.Since(owner.Since) > time.Minute {
		t.Errorf("the owner is %+v, %t", owner, found)
	}
	_, err := sqlite.Open(dir)
	locked, ok := errors.AsType[*sqlite.LockedError](err)
	want := fmt.Sprintf("%s is in use by process %d on %s since ", dir, os.Getpid(), owner.Host)
	if !ok || locked.Owner != owner || !strings.HasPrefix(err.Error(), want) ||
		!strings.HasSuffix(err.Error(), "; ask it at http://127.0.0.1:8080, or stop it, or choose another directory") {
		t.Errorf("the second process is told %v", err)
	}
	must(t, j.Close())
	if owner, found := sqlite.FindOwner(dir); found {
		t.Errorf("the owner has gone, but %+v", owner)
	}
	again, _ := open(t, dir)
	if owner, _ := sqlite.FindOwner(dir); owner.URL != "" {
		t.Errorf("the new owner has the URL of the old one: %+v", owner)
	}
	if again.Salt() != j.Salt() {
		t.Error("the salt is another one")
	}
}

// A lock may lie, for example on NFS: the process that has opened the directory last writes, and no other.
func TestEarlierOpening(t *testing.T) {
	dir := t.TempDir()
	first, _ := open(t, dir)
	mustAppend(t, first, block("r_a", 0, queued, started))
	must(t, os.Remove(filepath.Join(dir, "lock")))
	second, _ := open(t, dir)
	refuses(t, first, block("r_a", 2, begun), "another process has opened the journal in ")
	refuses(t, first, block("r_b", 0, queued), "another process has opened the journal in ")
	mustAppend(t, second, block("r_a", 2, begun), block("r_b", 0, queued))
	sound(t, dir, 2)
}

// change executes statements in the directory's database, as no journal does.
func change(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	must(t, err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// reading reads a value from the directory's database.
func reading(t testing.TB, dir, query string, value any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	must(t, err)
	defer db.Close()
	must(t, db.QueryRowContext(t.Context(), query).Scan(value))
}

// hold keeps everybody else from writing to the database.
func hold(t *testing.T, dir string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db")+"?_pragma=busy_timeout(5000)")
	must(t, err)
	conn, err := db.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	must(t, err)
	return func() {
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

func closed(t *testing.T, fill func(j *sqlite.Journal)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	j, err := sqlite.Open(dir)
	must(t, err)
	fill(j)
	must(t, j.Close())
	return dir
}

// cannotOpen checks that nobody can open the directory, and why.
func cannotOpen(t *testing.T, dir, why string) {
	t.Helper()
	_, errOpen := sqlite.Open(dir)
	_, errReader := sqlite.OpenReader(dir)
	report, errCheck := sqlite.Check(t.Context(), dir)
	if len(report.Faults) == 1 && report.Faults[0].Rule == journal.RuleStore {
		errCheck = errReader
	}
	for name, err := range map[string]error{"Open": errOpen, "OpenReader": errReader, "Check": errCheck} {
		if messages.CodeOf(err) != messages.CodeUnavailable || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", name, err, why)
		}
	}
	if _, found := sqlite.FindOwner(dir); found {
		t.Error("a directory that was not opened is locked")
	}
}

func TestNewerSchema(t *testing.T) {
	dir := closed(t, func(*sqlite.Journal) {})
	change(t, dir, "PRAGMA user_version = 99")
	cannotOpen(t, dir, "was written by a newer lastword (schema 99, this one knows 7)")
}

func TestDamagedHeader(t *testing.T) {
	dir := closed(t, func(*sqlite.Journal) {})
	overwrite(t, dir, 0, 100)
	cannotOpen(t, dir, "journal.db is damaged: restore a backup")
}

// overwrite damages bytes of the database file.
func overwrite(t *testing.T, dir string, at int64, n int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "journal.db"), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, n), at)
	must(t, err)
}

// A page of a run's log that the disk has damaged costs that run. Others can be read, and those elsewhere in the tree go on.
func TestDamagedPage(t *testing.T) {
	word := strings.Repeat("the word of the damaged run ", 100)
	dir := closed(t, func(j *sqlite.Journal) {
		for _, run := range []messages.RunID{"r_before", "r_damaged", "r_after"} {
			mustAppend(t, j, block(run, 0, queued, started, begun))
			for i := range 20 {
				text := word
				if run != "r_damaged" {
					text = strings.ToUpper(word)
				}
				mustAppend(t, j, block(run, uint64(3+i), said(i, text)))
			}
		}
	})
	data, err := os.ReadFile(filepath.Join(dir, "journal.db"))
	must(t, err)
	const page = 4096
	for at := int64(0); ; at += page { // a page of the tree in the middle of the log
		if p := data[at : at+page]; p[0] == 0x0a && bytes.Contains(p, []byte("the damaged run")) && !bytes.Contains(p, []byte("THE DAMAGED RUN")) {
			overwrite(t, dir, at, 200)
			break
		}
	}
	j, r := open(t, dir)
	for name, reader := range map[string]journal.Reader{"the journal": j, "another reader": r} {
		_, err := reader.Read(t.Context(), "r_damaged", 0)
		if messages.CodeOf(err) != messages.CodeUnavailable || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s reads the damaged log with %v", name, err)
		}
		for _, run := range []messages.RunID{"r_before", "r_after"} {
			if page, err := reader.Read(t.Context(), run, 0); err != nil || page.Head.Seq != 23 || len(page.Events) != 23 {
				t.Errorf("%s reads %d events of %s (%v)", name, len(page.Events), run, err)
			}
		}
	}
	mustAppend(t, j, block("r_after", 23, done, success), block("r_new", 0, queued))
	report, err := sqlite.Check(t.Context(), dir)
	if err != nil || report.Runs != 4 || !slices.ContainsFunc(report.Faults, func(f journal.Fault) bool { return f.Run == "r_damaged" }) ||
		slices.ContainsFunc(report.Faults, func(f journal.Fault) bool { return f.Run != "r_damaged" && f.Run != "" }) {
		t.Errorf("the check says %+v, %v", report, err)
	}
}
