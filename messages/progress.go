package messages

import "slices"

// Progress says how far a task has come. Total is 0 if it is unknown.
type Progress struct {
	// Task is the task that works; "" is the run itself.
	Task string `json:"task,omitempty"`
	Done int64  `json:"done"`
	// Total is 0 if it is unknown.
	Total int64 `json:"total,omitempty"`
	// Unit says what Done and Total count, for example files.
	Unit string `json:"unit,omitempty"`
}

func (Progress) info() *KindInfo { return progress }

var progress = row(Progress{}, KindProgress, "progress", "How far a task is; the latest counts.", traits{
	level: Delta, taskSays: true,
	key:   of(func(b Progress) partKey { return partKey{'p', b.Task} }),
	legal: with(func(b Progress, f *Fold) *Refusal { return f.legalSpeaker(b.Task) }),
	apply: to(func(b Progress, f *Fold) { f.progress.put(&f.s.Progress, f.progressOf(b.Task), b) }),
})

// LogTail is how many log lines merging and State keep: the newest ones.
const LogTail = 64

// LogLineBytes bounds the text of a log line.
const LogLineBytes = 1024

// Log carries log lines with consecutive numbers. If a merged event begins past the number that its reader expects,
// the lines in between were dropped.
type Log struct {
	Lines []LogLine `json:"lines"`
}

// LogLine is one line, numbered from 1 per run.
type LogLine struct {
	// Number counts the lines of the run, from 1.
	Number uint64   `json:"number"`
	Level  LogLevel `json:"level"`
	// Task wrote the line; "" is the run itself.
	Task string `json:"task,omitempty"`
	// Text is one line of up to LogLineBytes bytes.
	Text string `json:"text" text:"any"`
}

// LogLevel is debug, info, warn or error.
type LogLevel string

// The log levels.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

func (Log) info() *KindInfo { return logged }

var logged = row(Log{}, KindLog, "progress", "Log lines for a closer look, numbered per run.", traits{
	level: Delta, taskSays: true,
	own: with(func(b Log, task string) Body {
		b.Lines = slices.Clone(b.Lines)
		for i := range b.Lines {
			b.Lines[i].Task = task
		}
		return b
	}),
	key:   of(func(Log) partKey { return partKey{group: 'l'} }),
	legal: with(func(b Log, f *Fold) *Refusal { return f.legalLog(b.Lines) }),
	apply: to(func(b Log, f *Fold) { f.log(b.Lines) }),
})

// legalLog checks that the lines continue the log without a gap, or repeat its end.
func (f *Fold) legalLog(lines []LogLine) *Refusal {
	n := len(lines)
	if n == 0 {
		return violates(ruleLog, "the log event has no lines")
	}
	if bad := legalLines(lines); bad != nil {
		return bad
	}
	first, last := lines[0].Number, lines[n-1].Number
	switch {
	case first > f.s.Log.Next && n < LogTail:
		return violates(ruleLog, "log line %d leaves a gap after %d", first, f.s.Log.Next-1)
	case f.fresh && first < f.s.Log.Next, last+1 < f.s.Log.Next:
		return violates(ruleLog, "log line %d was said before", first)
	}
	return nil
}

// legalLines checks that the lines are few, short and numbered without gaps.
func legalLines(lines []LogLine) *Refusal {
	if len(lines) > LogTail {
		return violates(ruleLog, "a log event has at most %d lines, not %d", LogTail, len(lines))
	}
	for i, line := range lines {
		if i > 0 && line.Number != lines[i-1].Number+1 || line.Number == 0 || len(line.Text) > LogLineBytes {
			return violates(ruleLog, "log line %d is out of order or too long", line.Number)
		}
	}
	return nil
}

// log keeps the newest lines. It appends in place: older States end before the new lines.
func (f *Fold) log(lines []LogLine) {
	held, first := f.s.Log.Lines, lines[0].Number
	if first < f.s.Log.Next {
		lines = lines[f.s.Log.Next-first:]
	}
	if len(lines) == 0 {
		return
	}
	held = append(held[max(0, min(len(held), len(held)+len(lines)-LogTail)):], lines...)
	f.s.Log = LogState{Next: lines[len(lines)-1].Number + 1, Lines: held}
}

// Merged stands for a stretch of deltas of several streams. It has one part per stream, in order of first appearance.
// A part is a TextDelta, ThoughtDelta, Progress, ToolProgress or Log.
type Merged struct {
	Parts []Body `json:"-"`
}

func (Merged) info() *KindInfo { return merged }

var merged = row(Merged{}, KindMerged, "progress", "Several deltas of several streams as one event.", traits{
	level: Delta,
	own:   with(func(b Merged, task string) Body { return b.each(func(p Body) Body { return Owned(p, task) }) }),
	legal: with(Merged.legal),
	apply: to(func(b Merged, f *Fold) {
		for _, p := range b.Parts {
			p.info().apply(p, f)
		}
	}),
})

func (b Merged) each(do func(Body) Body) Merged {
	parts := make([]Body, len(b.Parts))
	for i, p := range b.Parts {
		parts[i] = do(p)
	}
	return Merged{parts}
}

// legal checks each part alone: the parts are of different streams, so none affects another.
func (b Merged) legal(f *Fold) *Refusal {
	if len(b.Parts) < 2 {
		return violates(ruleMerged, "a merged event has at least two parts, not %d", len(b.Parts))
	}
	seen := make(map[partKey]bool, len(b.Parts))
	for i, p := range b.Parts {
		key, ok := keyOf(p)
		if !ok || seen[key] {
			return violates(ruleMerged, "part %d (%T) has no stream, or the stream of an earlier part", i, p)
		}
		seen[key] = true
		if bad := p.info().legal(p, f); bad != nil {
			return bad
		}
	}
	return nil
}
