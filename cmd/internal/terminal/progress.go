package terminal

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// progressView is what people see of a run in progress: its State, and what only the events tell.
type progressView struct {
	state  messages.State
	phases map[string]phase
	ending string // set since a cancel was accepted
}

// phase holds what only the events tell about a task.
type phase struct {
	begun, ended time.Time
	words        string    // what the task waits for, or its summary
	warned       bool      // it has logged a warning
	asked        time.Time // when it asked a model that has not yet answered
}

// apply updates the view by an event.
func (b *progressView) apply(s messages.State, e messages.Event) {
	b.state = s
	switch body := e.Body.(type) {
	case messages.TaskStarted:
		b.note(body.Task, phase{begun: e.Time})
	case messages.TaskRestarted:
		b.note(body.Task, phase{begun: e.Time})
	case messages.TaskCompleted:
		p := b.phases[body.Task]
		p.ended, p.words = e.Time, strings.TrimPrefix(strings.TrimPrefix(e.Message, body.Task+" completed"), ": ")
		b.note(body.Task, p)
	case messages.RunCanceling:
		b.ending = "canceling"
		if interrupted(body) {
			b.ending += "; Ctrl-C leaves at once"
		}
	case messages.TaskFailed:
		b.note(body.Task, phase{begun: b.phases[body.Task].begun, ended: e.Time})
	case messages.LLMStarted:
		p := b.phases[body.Task]
		p.asked, p.words = e.Time, e.Message
		b.note(body.Task, p)
	case messages.LLMCompleted:
		p := b.phases[body.Task]
		p.asked, p.words = time.Time{}, ""
		b.note(body.Task, p)
	case messages.Log:
		b.warn(body)
	case messages.Merged:
		for _, part := range body.Parts {
			if l, ok := part.(messages.Log); ok {
				b.warn(l)
			}
		}
	}
}

// warn marks tasks that have logged a warning.
func (b *progressView) warn(l messages.Log) {
	for _, line := range l.Lines {
		if p, ok := b.phases[line.Task]; ok && line.Level == messages.LogWarn {
			p.warned = true
			b.note(line.Task, p)
		}
	}
}

func (b *progressView) note(task string, p phase) {
	if b.phases == nil {
		b.phases = map[string]phase{}
	}
	b.phases[task] = p
}

// logLines is the number of log lines that are shown.
const logLines = 5

// lines returns the lines to show, at most rows. tick turns the spinner.
func (b *progressView) lines(now time.Time, tick, rows int, ascii bool) [][]span {
	var lines [][]span
	widest := 0
	for _, t := range b.state.Tasks {
		widest = max(widest, min(Width(words.Printable(t.Name)), 20))
	}
	for _, t := range b.state.Tasks {
		lines = append(lines, b.task(t, now, tick, widest, ascii))
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
func (b *progressView) task(t messages.TaskState, now time.Time, tick, widest int, ascii bool) []span {
	p, end := b.phases[t.Name], now
	sign, as := signOf(t.Status, tick, ascii)
	if p.warned && t.Status == messages.TaskFinished {
		sign, as = warning(ascii), yellow
	}
	said := p.words
	switch last := b.state.End; {
	case !p.ended.IsZero():
		end = p.ended
	case last != nil: // the run ended without an event of the task
		sign, _ = signOf(messages.TaskGaveUp, tick, ascii)
		end, as = last.At, yellow
	case !p.asked.IsZero():
		said = waited(p.words, now.Sub(p.asked))
	case t.Status == messages.TaskRunning:
		said = b.progress(t.Name)
	}
	return []span{{sign, as}, {"  " + Pad(words.Printable(t.Name), widest), bold},
		{fmt.Sprintf("  %8s  ", Elapsed(end.Sub(p.begun))), dim}, {said, ""}}
}

// waited appends the seconds of a wait.
func waited(words string, d time.Duration) string {
	return fmt.Sprintf("%s, %d s", words, max(d, 0)/time.Second)
}

// warning returns the sign for a degraded run or task. It is one column wide.
func warning(ascii bool) string {
	if ascii {
		return "!"
	}
	return "⚠"
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
func (b *progressView) progress(task string) string {
	for _, p := range b.state.Progress {
		if p.Task == task {
			return HowFar(p.Done, p.Total, p.Unit)
		}
	}
	return ""
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
func (b *progressView) foot(now time.Time) []span {
	said := "   " + words.Printable(b.state.Queued.Job) + "  " + Elapsed(now.Sub(b.state.QueuedAt))
	if n := len(b.state.Artifacts); n > 0 {
		bytes := int64(0)
		for _, a := range b.state.Artifacts {
			bytes += a.Bytes
		}
		said += ", " + words.Count(n, "file") + " with " + words.Size(bytes)
	}
	return []span{{said, dim}, {"  " + b.ending, yellow}}
}
