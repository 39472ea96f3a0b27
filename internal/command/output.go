package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const (
	// readBytes is the size of one read, and so of the text in one event.
	readBytes = 64 << 10
	// textBytes is the greatest size of one text.
	textBytes = 1 << 20
	// mostLine is the longest line that is looked at. Only the end of a longer line is.
	mostLine = 1 << 20
	// mostText is the longest result.
	mostText = 64 << 10
	// mostDrained is how much of a pipe is read after its program has ended: more than a system keeps in one.
	mostDrained = 2 << 20
)

// sink takes the output of a program.
type sink interface{ write(text []byte) error }

// reader reads a pipe to its end.
type reader struct {
	file *os.File
	sink sink
	raw  io.Writer // gets the raw bytes; may be nil
	of   *execution
}

// copy passes on what arrives. If the run or raw takes no more, it still reads, so that the program can end.
func (r *reader) copy(ctx context.Context) {
	buffer := make([]byte, readBytes)
	for drained := 0; ; {
		n, err := r.file.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_ = r.file.SetReadDeadline(noDeadline)
			n, err = drain(r.file, buffer)
			if drained += n; n == 0 || drained > mostDrained {
				err = io.EOF
			} else {
				_ = r.file.SetReadDeadline(past)
			}
		}
		if n > 0 {
			if err := r.pass(ctx, buffer[:n]); err != nil {
				r.of.fail(err)
			}
			if r.of.spoken == nil {
				r.of.limits.heard()
			}
		}
		if err != nil {
			return // EOF, or EIO from a terminal
		}
	}
}

// pass writes a piece to the raw file and to the sink.
func (r *reader) pass(ctx context.Context, piece []byte) error {
	if r.raw != nil {
		if _, err := r.raw.Write(piece); err != nil {
			return fmt.Errorf("the output cannot be written: %w", err)
		}
	}
	if _, speaks := r.sink.(*spoken); ctx.Err() != nil && !speaks {
		return nil // the run is over: what the program writes at its own end goes only to raw
	}
	return r.sink.write(piece)
}

// stopSoon makes the reader end soon, whoever holds the pipe open.
func (r *reader) stopSoon() { _ = r.file.SetReadDeadline(past) }

// whole decodes UTF-8 that arrives in pieces. rest is the beginning of an incomplete character.
type whole struct{ rest []byte }

// push returns the piece as UTF-8. A character that is cut off at its end is held for the next piece.
func (w *whole) push(piece []byte) string {
	if len(w.rest) > 0 {
		piece = append(w.rest, piece...)
		w.rest = nil
	}
	for i := 1; i < utf8.UTFMax && i <= len(piece); i++ {
		if pos := len(piece) - i; utf8.RuneStart(piece[pos]) {
			if !utf8.FullRune(piece[pos:]) {
				w.rest, piece = append([]byte(nil), piece[pos:]...), piece[:pos]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(piece), "\uFFFD")
}

func (w *whole) end() string {
	rest := strings.ToValidUTF8(string(w.rest), "\uFFFD")
	w.rest = nil
	return rest
}

// texts turns stdout, or stderr that is kept, into texts of the run. One goroutine uses it.
type texts struct {
	of       string // stdout or stderr
	kind     string // media type
	task     *actors.TaskContext
	runes    whole
	stream   *redact.Stream
	progress func(line string)

	number int // number of the current text, from 1
	bytes  int // size of the current text
	sum    hash.Hash
	total  int64                 // size of all texts
	most   int                   // greatest size of one text
	room   int                   // greatest size of all texts that are kept
	kept   []messages.TextClosed // earlier texts that were not dropped
	first  strings.Builder       // content, while there is a single text
	tail   tail                  // end of the output, for the result
	lines  splitter
}

func newTexts(t *actors.TaskContext, r *runner, of string) *texts {
	s := &texts{of: of, kind: messages.TextPlain, task: t, stream: r.Config.Secrets.Stream(), number: 1, sum: sha256.New(), room: int(cmp.Or(r.MaxOutput, defaultOutput))}
	s.most = min(textBytes, max(s.room/4, readBytes))
	s.tail.most = mostText
	if r.Result == "json" {
		s.tail.most = mostLine
	}
	if r.TTY {
		s.kind = messages.TextANSI
	}
	return s
}

// name returns the name of the current text.
func (s *texts) name() string {
	if s.number == 1 {
		return s.of
	}
	return s.of + "." + strconv.Itoa(s.number)
}

func (s *texts) write(piece []byte) error { return s.say(s.stream.Push(s.runes.push(piece))) }

// say adds text to the stream, and begins the next stream when one is full. A character is never divided.
func (s *texts) say(text string) error {
	s.tail.write(text)
	if s.progress != nil {
		s.lines.each(text, s.progress)
	}
	for text != "" {
		room := min(s.most-s.bytes, len(text))
		for room > 0 && room < len(text) && !utf8.RuneStart(text[room]) {
			room--
		}
		if room == 0 {
			if err := s.next(); err != nil {
				return err
			}
			continue
		}
		if s.kind == messages.TextPlain && strings.Contains(text[:room], "\x1b[") {
			s.kind = messages.TextANSI // the next text at the latest is one
		}
		if err := s.task.AppendTyped(s.name(), s.kind, text[:room]); err != nil {
			return err
		}
		if s.number == 1 {
			s.first.WriteString(text[:room])
		}
		io.WriteString(s.sum, text[:room])
		s.bytes, s.total, text = s.bytes+room, s.total+int64(room), text[room:]
	}
	return nil
}

// next closes the text and begins another one. It drops the oldest texts beyond the limit.
func (s *texts) next() error {
	done := messages.TextClosed{Stream: s.name(), Bytes: s.bytes, SHA256: hex.EncodeToString(s.sum.Sum(nil))}
	if err := s.task.Emit(done, ""); err != nil {
		return err
	}
	s.kept = append(s.kept, done)
	s.number, s.bytes = s.number+1, 0
	s.first.Reset()
	s.sum.Reset()
	for (len(s.kept)+1)*s.most > s.room && len(s.kept) > 0 {
		oldest := s.kept[0]
		oldest.Dropped = true
		if err := s.task.Emit(oldest, fmt.Sprintf("dropped %s of %s", words.Count(oldest.Bytes, "byte"), s.of)); err != nil {
			return err
		}
		s.kept = s.kept[1:]
	}
	return s.task.Commit(context.Background()) // otherwise a fast program would fill the memory with what waits for the journal
}

// end emits the rest. A single text is repeated whole, like other texts.
func (s *texts) end() error {
	err := s.say(s.stream.Push(s.runes.end()) + s.stream.Close())
	switch {
	case err != nil || s.total == 0:
		return err
	case s.number == 1:
		return s.task.FinishText(s.name(), s.first.String())
	}
	return s.next()
}

// tail keeps the end of a text.
type tail struct {
	text []byte
	most int
}

// write appends text. It cuts only at twice the size, so that each byte is moved about once.
func (t *tail) write(text string) {
	if len(text) > t.most {
		text = text[len(text)-t.most:]
	}
	t.text = append(t.text, text...)
	if len(t.text) > 2*t.most {
		t.text = append(t.text[:0], t.text[len(t.text)-t.most:]...)
	}
}

// String returns the end of the text, beginning with a whole character.
func (t *tail) String() string {
	text := t.text
	if len(text) > t.most {
		text = text[len(text)-t.most:]
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return string(text)
}

// splitter finds lines, which end with \n or \r, in a text that arrives in pieces.
type splitter struct{ rest string }

// each calls do for every complete line. The rest is held for the next text, up to a limit.
func (s *splitter) each(text string, do func(line string)) {
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			break
		}
		if line := s.rest + text[:i]; line != "" {
			do(line)
		}
		s.rest, text = "", text[i+1:]
	}
	if s.rest += text; len(s.rest) > mostLine {
		s.rest = s.rest[len(s.rest)-mostLine:]
	}
}

func (s *splitter) end(do func(line string)) {
	if s.rest != "" {
		do(s.rest)
	}
	s.rest = ""
}

// cutter cuts bytes that arrive in pieces into lines, and a line after its most bytes.
type cutter struct {
	rest []byte
	most int
	long bool // the line was cut
}

// each calls do for every complete line that is not blank. do keeps no part of it.
func (c *cutter) each(piece []byte, do func(line []byte, long bool) error) error {
	for {
		before, after, ended := bytes.Cut(piece, []byte("\n"))
		room := min(len(before), c.most-len(c.rest))
		c.rest, c.long = append(c.rest, before[:room]...), c.long || room < len(before)
		if !ended {
			return nil
		}
		line, long := bytes.TrimSpace(c.rest), c.long
		if c.rest, c.long, piece = c.rest[:0], false, after; len(line) == 0 {
			continue
		}
		if err := do(line, long); err != nil {
			return err
		}
	}
}

// logLines turns stderr into log lines of the run. One goroutine uses it.
type logLines struct {
	task     *actors.TaskContext
	runes    whole
	stream   *redact.Stream
	progress func(line string)
	lines    splitter
	last     string
	kept     *texts // nil if only the newest lines are kept
}

func (l *logLines) write(piece []byte) error { return l.say(l.stream.Push(l.runes.push(piece)), false) }

func (l *logLines) end() error {
	err := l.say(l.stream.Push(l.runes.end())+l.stream.Close(), true)
	if l.kept != nil {
		err = cmp.Or(err, l.kept.end())
	}
	return err
}

// say emits the complete lines of the text, several to an event.
func (l *logLines) say(text string, end bool) (err error) {
	var some []messages.LogLine
	flush := func() {
		if len(some) > 0 && err == nil {
			err = l.task.Emit(messages.Log{Lines: some}, "")
		}
		some = nil
	}
	line := func(line string) {
		if l.progress != nil {
			l.progress(line)
		}
		l.last = messages.Bound(line, messages.LogLineBytes)
		if some = append(some, messages.LogLine{Level: messages.LogInfo, Text: l.last}); len(some) == messages.LogTail {
			flush()
		}
	}
	l.lines.each(text, line)
	if end {
		l.lines.end(line)
	}
	flush()
	if l.kept != nil && err == nil {
		err = l.kept.say(text)
	}
	return err
}

// last returns the last line of stderr, or of the only output, as the end of a sentence about a failure.
func (x *execution) last() string {
	last := x.stderr.last
	if x.TTY || x.Output == OneOutput {
		text := strings.TrimSpace(x.stdout.tail.String())
		last = messages.Bound(text[strings.LastIndexByte(text, '\n')+1:], messages.LogLineBytes)
	}
	if last = words.OneLine(last); last == "" {
		return ""
	}
	return ": " + last
}

// lineProgress returns a function that reports the progress in lines that match the operator's pattern; nil without a
// pattern.
func (r *runner) lineProgress(t *actors.TaskContext) func(line string) {
	if r.Progress == "" {
		return nil
	}
	return func(line string) {
		found := r.progress.FindStringSubmatch(line)
		if found == nil {
			return
		}
		done, err := strconv.ParseFloat(found[1], 64)
		total := 0.0
		if err == nil && len(found) > 2 {
			total, err = strconv.ParseFloat(found[2], 64)
		}
		if err == nil {
			_ = t.Progress(int64(done), int64(total), "") // the next one tells
		} // the next line reports again
	}
}
