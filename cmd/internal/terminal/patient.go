package terminal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
)

// Patient is a stream whose reader may take its time. A write waits for it as long as it likes, until Hurry sets a
// limit. It is safe for concurrent use; mu guards the fields below it.
type Patient struct {
	to      io.Writer
	hurry   sync.Once
	over    chan struct{}
	writing sync.WaitGroup

	mu        sync.Mutex
	unwritten int
	unread    bool // and not read any more
	failed    error
}

// ErrUnread means that the reader of a stream has not read in time.
var ErrUnread = errors.New("nobody reads it")

const (
	lastChance = 5 * time.Second        // for the reader, after Hurry
	moment     = 100 * time.Millisecond // for a write after that
	whole      = 4 << 10                // what a pipe takes as a whole, or not at all
)

// NewPatient returns a patient stream that writes to w.
func NewPatient(w io.Writer) *Patient { return &Patient{to: w, over: make(chan struct{})} }

func (p *Patient) Unwrap() io.Writer { return p.to }

// Write returns ErrUnread if the text is not read when the limit of Hurry has passed. So do all later writes. What is
// read at once is still written.
func (p *Patient) Write(text []byte) (int, error) {
	if p.count(len(text)) {
		return 0, ErrUnread
	}
	sent := make(chan error, 1)
	own := bytes.Clone(text) // the caller goes on if the limit passes
	p.writing.Go(func() { sent <- p.send(own) })
	select {
	case err := <-sent:
		return len(text), err
	case <-p.over:
	}
	select {
	case err := <-sent:
		return len(text), err
	case <-time.After(moment):
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unread = true
		return 0, ErrUnread
	}
}

func (p *Patient) send(text []byte) error {
	for piece := range slices.Chunk(text, whole) {
		n, err := p.to.Write(piece)
		if p.count(-n); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = cmp.Or(p.failed, err)
			return err
		}
	}
	return nil
}

func (p *Patient) count(bytes int) (unread bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unwritten += bytes
	return p.unread
}

// Hurry gives the reader five more seconds for all that is still to come.
func (p *Patient) Hurry() {
	p.hurry.Do(func() { time.AfterFunc(lastChance, func() { close(p.over) }) })
}

// giveUp makes all writes fail from now on, if one waits.
func (p *Patient) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread = p.unwritten > 0
}

// Report says in one line how much the reader has not read. It returns err without ErrUnread, which that line explains.
func (p *Patient) Report(stderr io.Writer, err error) error {
	p.mu.Lock()
	unread, unwritten, failed := p.unread, p.unwritten, p.failed
	p.mu.Unlock()
	if unread {
		fmt.Fprintf(stderr, "lastword: nobody reads stdout: %s were not written\n", words.Count(unwritten, "byte"))
	}
	if errors.Is(err, ErrUnread) {
		return nil
	}
	return cmp.Or(err, failed)
}

// patientOf returns the patient stream below w, or nil.
func patientOf(w io.Writer) *Patient {
	for {
		switch of := w.(type) {
		case *Patient:
			return of
		case interface{ Unwrap() io.Writer }:
			w = of.Unwrap()
		default:
			return nil
		}
	}
}

// Hurry gives the readers of stdout and stderr five more seconds: the run is over.
func (d *Display) Hurry() {
	for _, w := range []io.Writer{d.Stdout, d.Stderr} {
		if p := patientOf(w); p != nil {
			p.Hurry()
		}
	}
}

// LeaveNow prepares the terminal for the end of the program, and says what stdout has not taken.
func (d *Display) LeaveNow() {
	if p := patientOf(d.Stdout); p != nil {
		p.giveUp()
		_ = p.Report(d.Stderr, nil)
	}
	d.View.Leave()
}
