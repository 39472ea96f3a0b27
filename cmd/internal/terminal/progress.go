package terminal

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// board is what people see of a run in progress: its State, its items, and what only the events tell of its tasks.
type board struct {
	state  messages.State
	player *transcript.Player[*board]
	phases map[string]*phase
	ending string // set since a cancel was accepted
}

// phase holds what only the events tell about a task.
type phase struct {
	begun, ended time.Time
	words        string    // what the task waits for, or its summary
	warned       bool      // it has logged a warning
	asked        time.Time // when it asked a model that has not yet answered
}

// tasks notes what happens to the tasks. All else is drawn from the State and the items.
var tasks = &transcript.Dialect[*board]{Table: transcript.Table[*board]{transcript.Run: {transcript.Update: (*board).changed},
	transcript.Notice: {transcript.Open: func(b *board, op *transcript.Op) { b.phase(op.Item.Task).warned = true }}}}

func newBoard() *board {
	b := &board{phases: map[string]*phase{}}
	b.player = tasks.Player(b)
	b.player.Lean = true
	return b
}

// apply updates the board by an event.
func (b *board) apply(s messages.State, e messages.Event) {
	b.state = s
	b.player.Play(e)
}

// changed notes what the event tells about a task, or about the run as a whole.
func (b *board) changed(op *transcript.Op) {
	when := op.Event.Time
	switch body := op.Event.Body.(type) {
	case messages.TaskStarted:
		b.phases[body.Task] = &phase{begun: when}
	case messages.TaskRestarted:
		b.phases[body.Task] = &phase{begun: when}
	case messages.TaskCompleted:
		p := b.phase(body.Task)
		p.ended, p.words = when, strings.TrimPrefix(strings.TrimPrefix(op.Event.Message, body.Task+" completed"), ": ")
	case messages.TaskFailed:
		b.phases[body.Task] = &phase{begun: b.phase(body.Task).begun, ended: when}
	case messages.LLMStarted:
		p := b.phase(body.Task)
		p.asked, p.words = when, op.Event.Message
	case messages.LLMCompleted:
		p := b.phase(body.Task)
		p.asked, p.words = time.Time{}, ""
	case messages.RunCanceling:
		b.ending = "canceling"
		if interrupted(body) {
			b.ending += "; Ctrl-C leaves at once"
		}
	case messages.Log:
		for _, line := range body.Lines {
			b.phase(line.Task).warned = b.phase(line.Task).warned || line.Level == messages.LogWarn
		}
	}
}

// phase returns the phase of a task.
func (b *board) phase(task string) *phase {
	if b.phases[task] == nil {
		b.phases[task] = &phase{}
	}
	return b.phases[task]
}

// logLines is the number of log lines that are shown.
const logLines = 5

// lines returns the lines to show, at most rows. tick turns the spinner.
func (b *board) lines(now time.Time, tick, rows int, ascii bool) [][]span {
	var lines [][]span
	widest := 0
	for _, t := range b.state.Tasks {
		widest = max(widest, min(Width(words.Printable(t.Name)), 20))
	}
	for _, t := range b.state.Tasks {
		lines = append(lines, b.task(t, now, tick, widest, ascii))
	}
	for _, n := range b.state.Notices {
		lines = append(lines, []span{{"    ", ""}, {n.Text, yellow}})
	}
	logs := b.state.Log.Lines
	if b.state.End != nil {
		logs = nil
	}
	for _, l := range logs[max(0, len(logs)-min(logLines, max(0, rows-len(lines)-1))):] {
		lines = append(lines, []span{{"    ", ""}, {l.Text, cmp.Or(levelColors[l.Level], dim)}})
	}
	if b.state.End == nil {
		lines = append(lines, b.foot(now))
	}
	return lines[max(0, len(lines)-rows):]
}

// levelColors are the colors of levels of the log; all others are dim.
var levelColors = map[messages.LogLevel]color{messages.LogWarn: yellow, messages.LogError: red}

// task returns the line of a task: its sign, name, time, and what it does or waits for.
func (b *board) task(t messages.TaskState, now time.Time, tick, widest int, ascii bool) []span {
	p, end := b.phase(t.Name), now
	sign, as := signOf(t.Status, tick, ascii)
	if p.warned && t.Status == messages.TaskFinished {
		sign, as = style{ascii: ascii}.mark("⚠"), yellow
	}
	text := p.words
	switch last := b.state.End; {
	case !p.ended.IsZero():
		end = p.ended
	case last != nil: // the run ended without an event of the task
		sign, _ = signOf(messages.TaskGaveUp, tick, ascii)
		end, as = last.At, yellow
	case !p.asked.IsZero():
		text = waited(p.words, now.Sub(p.asked))
	case t.Status == messages.TaskRunning:
		text = cmp.Or(b.progress(t.Name), b.step(t.Name))
	}
	return []span{{sign, as}, {"  " + Pad(words.Printable(t.Name), widest), bold},
		{fmt.Sprintf("  %8s  ", Elapsed(end.Sub(p.begun))), dim}, {text, ""}}
}

// waited appends the seconds of a wait.
func waited(words string, d time.Duration) string {
	return fmt.Sprintf("%s, %d s", words, max(d, 0)/time.Second)
}

// Spinner returns the sign for work in progress. It is one column wide, and turns with each tick.
func Spinner(tick int, ascii bool) string {
	turning := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	if ascii {
		turning = []rune(`|/-\`)
	}
	return string(turning[tick%len(turning)])
}

// signOf returns the sign for a status. It is one column wide.
func signOf(s messages.TaskStatus, tick int, ascii bool) (string, color) {
	signs := [...]string{"✓", "✗", "·"}
	if ascii {
		signs = [...]string{"+", "x", "."}
	}
	switch s {
	case messages.TaskFinished:
		return signs[0], green
	case messages.TaskGaveUp:
		return signs[1], red
	case messages.TaskWaiting:
		return signs[2], yellow
	}
	return Spinner(tick, ascii), cyan
}

// progress returns how far the task is, or "".
func (b *board) progress(task string) string {
	if item := b.player.Find(transcript.Progress, task); item != nil {
		p := item.Latest.(messages.Progress)
		return HowFar(p.Done, p.Total, p.Unit)
	}
	return ""
}

// step returns the newest step of the task that runs, or "".
func (b *board) step(task string) (name string) {
	for _, s := range b.state.Steps {
		if s.Running && s.Task == task {
			name = s.Name
		}
	}
	return name
}

// HowFar describes progress, for example "3 of 1,024 files".
func HowFar(done, total int64, unit string) string {
	number := words.Thousands
	if unit == "bytes" {
		number, unit = words.Size, ""
	}
	if total > 0 {
		return strings.TrimSpace(number(done) + " of " + number(total) + " " + unit)
	}
	return strings.TrimSpace(number(done) + " " + unit)
}

// foot returns the last line, which is about the run as a whole.
func (b *board) foot(now time.Time) []span {
	text := "   " + words.Printable(b.state.Queued.Job) + "  " + Elapsed(now.Sub(b.state.QueuedAt))
	files, bytes := 0, int64(0)
	for _, item := range b.player.Items() {
		if item.Kind == transcript.Artifact {
			files, bytes = files+1, bytes+transcript.FileOf(item).Bytes
		}
	}
	if files > 0 {
		text += ", " + words.Count(files, "file") + " with " + words.Size(bytes)
	}
	return []span{{text, dim}, {"  " + b.ending, yellow}}
}
