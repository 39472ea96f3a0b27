package terminal

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// Answer prints a run's answers on stdout as they arrive, see [messages.IsAnswer]. As a view it also shows, if stderr
// is a terminal, how long the model has been silent, its thoughts, the tools that it calls, and how its answer ended.
// It is safe for concurrent use; mu guards the fields below it.
type Answer struct {
	Stdout, Stderr io.Writer // answers are not printed if Stdout is nil
	Style          style
	// Columns is the width of the terminal, or 0 if it cannot redraw a line. Answer counts the seconds of a wait in
	// that line.
	Columns int
	Shared  bool // stdout is a terminal: control characters are removed

	output  bool // print a command's stdout, unchanged, and not the answers
	printed map[*transcript.Item]int
	missing int // bytes of that stdout which the log had dropped before
	lost    error

	mu      sync.Mutex
	player  *transcript.Player[*Answer]
	waiting string // the line on stderr that counts seconds, without the seconds
	asked   time.Time
	timer   *time.Timer

	open     bool // the last line on stdout is not ended
	broken   bool // a thought has interrupted that line on the terminal
	thinking bool // the last line on stderr is not ended
}

// speech can only append: a text that begins again is printed once it differs.
var speech = &transcript.Dialect[*Answer]{Policy: transcript.Mark, Rewind: (*Answer).again, Table: transcript.Table[*Answer]{
	transcript.Run:  {transcript.Update: (*Answer).changed},
	transcript.Text: {transcript.Append: (*Answer).text, transcript.Done: (*Answer).done},
	transcript.Thought: {
		transcript.Append: func(s *Answer, op *transcript.Op) { s.think(op.Text) },
		transcript.Done:   func(s *Answer, _ *transcript.Op) { s.endThought() },
	},
	transcript.Tool:   {transcript.Open: (*Answer).called, transcript.Done: (*Answer).called},
	transcript.Notice: {transcript.Open: (*Answer).called},
}}

// Show prints what the event adds.
func (s *Answer) Show(_ messages.State, e messages.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.player == nil {
		s.player = speech.Player(s)
		s.player.Lean = true
	}
	s.player.Play(e)
}

// print writes to stdout, until that fails.
func (s *Answer) print(text string) {
	if s.lost == nil {
		_, s.lost = io.WriteString(s.Stdout, text)
	}
}

// text prints new text of an answer or a command.
func (s *Answer) text(op *transcript.Op) {
	if s.output && messages.IsStdout(op.Item.Name) {
		s.print(op.Text)
		s.printed[op.Item] += len(op.Text)
	}
	text := op.Text
	if s.Shared {
		text = words.WithoutControls(text)
	}
	if s.output || s.Stdout == nil || !op.Item.IsAnswer() || text == "" {
		return
	}
	s.endWait()
	s.endThought()
	s.open, s.broken = !strings.HasSuffix(text, "\n"), false
	s.print(text)
}

// again tells that an answer begins again.
func (s *Answer) again(op *transcript.Op) {
	if op.Item.IsAnswer() && !s.output && s.Stdout != nil {
		s.endWait()
		s.endThought()
		s.print(transcript.Rule)
	}
}

func (s *Answer) done(op *transcript.Op) {
	if s.output && messages.IsStdout(op.Item.Name) {
		s.missing += max(0, op.Item.Len()-s.printed[op.Item])
		s.printed[op.Item] = op.Item.Len()
	}
	if !op.Cut {
		s.finish()
	}
}

// finish ends the last line of the answer.
func (s *Answer) finish() {
	if s.open && !s.broken {
		s.open = false
		s.print("\n")
	}
}

// called tells that a tool is called, or has returned.
func (s *Answer) called(op *transcript.Op) {
	if !op.Cut {
		s.remark(op.Event.Message)
	}
}

// changed tells what the model is asked, how its answer ended, and that the run is canceled.
func (s *Answer) changed(op *transcript.Op) {
	switch b := op.Event.Body.(type) {
	case messages.LLMStarted:
		s.wait(op.Event.Message)
	case messages.LLMCompleted:
		s.finish()
		if s.endWait(); b.Error == nil { // the end of the run gives the reason of a failure
			s.remark(op.Event.Message)
		}
	case messages.RunCanceling:
		if interrupted(b) {
			s.remark(op.Event.Message + "; Ctrl-C leaves at once")
		}
	}
}

// think prints to stderr. If stdout is the same terminal and its line is open, it breaks that line first.
func (s *Answer) think(text string) {
	if text = words.WithoutControls(text); text == "" {
		return
	}
	if s.Shared && s.open && !s.broken {
		s.broken = true
		io.WriteString(s.Stderr, "\n")
	}
	s.endWait()
	line, ended := strings.CutSuffix(text, "\n")
	s.thinking = !ended
	io.WriteString(s.Stderr, s.Style.paint(line, dim)+text[len(line):])
}

// remark prints a separate line.
func (s *Answer) remark(line string) {
	s.endThought()
	s.think(words.Printable(line) + "\n")
}

func (s *Answer) endThought() {
	if s.thinking {
		s.thinking = false
		io.WriteString(s.Stderr, "\n")
	}
}

// wait shows the line with the number of elapsed seconds, until something else is printed.
func (s *Answer) wait(line string) {
	s.endThought()
	if s.Columns == 0 {
		s.remark(line)
		return
	}
	s.waiting, s.asked = words.Printable(line), time.Now()
	s.redraw(s.waiting)
	s.timer = time.AfterFunc(time.Second, s.tick)
}

// tick counts the seconds of a wait.
func (s *Answer) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting != "" {
		if !inBackground(s.Stderr) {
			s.redraw(waited(s.waiting, time.Since(s.asked)))
		}
		s.timer.Reset(time.Second)
	}
}

func (s *Answer) redraw(line string) {
	line = fit(line, s.Columns-1, s.Style.mark("…"))
	io.WriteString(ungated(s.Stderr), "\r"+s.Style.paint(line, dim)+"\x1b[K")
}

// endWait leaves the line without the seconds.
func (s *Answer) endWait() {
	if s.waiting == "" {
		return
	}
	s.timer.Stop()
	s.redraw(s.waiting)
	s.waiting = ""
	io.WriteString(s.Stderr, "\n")
}

func (s *Answer) End() { s.Leave() }

// Leave ends open lines, so that other output begins on its own line.
func (s *Answer) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWait()
	s.endThought()
}
