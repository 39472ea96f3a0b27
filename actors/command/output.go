package command

import (
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
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/messages/words"
)

const (
	// readBytes is the most that one read takes, and so what an event may carry.
	readBytes = 64 << 10
	// textBytes is the most that one text holds.
	textBytes = 1 << 20
	// mostLine is the longest line that is looked at. Of a longer one it is the end.
	mostLine = 1 << 20
	// mostText is the longest result.
	mostText = 64 << 10
	// mostDrained is what is read of a pipe after its program has ended: more than a system keeps in one.
	mostDrained = 2 << 20
)

// sink takes what a program says.
type sink interface{ write(text []byte) error }

// reader reads a pipe to its end.
type reader struct {
	file *os.File
	sink sink
	raw  io.Writer // gets the bytes as they are; may be nil
	of   *execution
}

// copy passes on what comes. When the run takes no more, or raw does not, it still reads, so that the program can end.
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
			r.of.limits.heard()
		}
		if err != nil {
			return // EOF, or a terminal's EIO
		}
	}
}

func (r *reader) pass(ctx context.Context, piece []byte) error {
	if r.raw != nil {
		if _, err := r.raw.Write(piece); err != nil {
			r.raw = nil
			return fmt.Errorf("the output cannot be written: %w", err)
		}
	}
	if ctx.Err() != nil {
		return nil // the run is over: what the program says of its own end is for raw alone
	}
	return r.sink.write(piece)
}

// hurry has the reader end soon, whoever holds the pipe.
func (r *reader) hurry() { _ = r.file.SetReadDeadline(past) }

// whole makes UTF-8 of bytes that come in pieces: it keeps the beginning of a character.
type whole struct{ rest []byte }

func (w *whole) push(piece []byte) string {
	if len(w.rest) > 0 {
		piece = append(w.rest, piece...)
		w.rest = nil
	}
	for i := 1; i < utf8.UTFMax && i <= len(piece); i++ {
		if at := len(piece) - i; utf8.RuneStart(piece[at]) {
			if !utf8.FullRune(piece[at:]) {
				w.rest, piece = append([]byte(nil), piece[at:]...), piece[:at]
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

// texts are the texts of the run that stdout becomes.
type texts struct {
	task     *actors.TaskContext
	runes    whole
	stream   *redact.Stream
	progress func(line string)

	number int // of the current text, from 1
	bytes  int // of it
	sum    hash.Hash
	total  int64                 // bytes of all texts
	most   int                   // bytes of a text
	room   int                   // bytes of all that are kept
	kept   []messages.TextClosed // the texts before, without those that were dropped
	first  strings.Builder       // the text, while it is the only one
	tail   tail                  // what the result is made of
	lines  splitter
}

func newTexts(t *actors.TaskContext, r *Runner) *texts {
	s := &texts{task: t, stream: r.Config.Secrets.Stream(), number: 1, sum: sha256.New(), room: int(cmp.Or(r.MaxOutput, defaultOutput))}
	s.most = min(textBytes, max(s.room/4, readBytes))
	s.tail.most = mostText
	if r.Result == "json" {
		s.tail.most = mostLine
	}
	s.progress = r.lineProgress(t)
	return s
}

// name is that of the current text.
func (s *texts) name() string {
	if s.number == 1 {
		return "stdout"
	}
	return "stdout." + strconv.Itoa(s.number)
}

func (s *texts) write(piece []byte) error { return s.say(s.stream.Push(s.runes.push(piece))) }

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
		if err := s.task.Say(s.name(), text[:room]); err != nil {
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

// next closes the text and begins another. The oldest are dropped.
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
		if err := s.task.Emit(oldest, fmt.Sprintf("dropped %s of stdout", words.Count(oldest.Bytes, "byte"))); err != nil {
			return err
		}
		s.kept = s.kept[1:]
	}
	return s.task.Commit(context.Background()) // or a fast program would fill the memory with what waits for the journal
}

// end says the rest. A single text is repeated whole, as texts are.
func (s *texts) end() error {
	err := s.say(s.stream.Push(s.runes.end()) + s.stream.Close())
	switch {
	case err != nil || s.total == 0:
		return err
	case s.number == 1:
		return s.task.Said(s.name(), s.first.String())
	}
	return s.next()
}

// tail keeps the end of a text.
type tail struct {
	text []byte
	most int
	cut  bool
}

func (t *tail) write(text string) {
	if len(text) > t.most {
		text, t.cut = text[len(text)-t.most:], true
	}
	t.text = append(t.text, text...)
	if len(t.text) > 2*t.most {
		t.text, t.cut = append(t.text[:0], t.text[len(t.text)-t.most:]...), true
	}
}

// String is the end of the text, from a whole character on.
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

// splitter finds lines, which \n or \r ends, in a text that comes in pieces.
type splitter struct{ rest string }

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

// logLines are the lines of the run's log that stderr becomes.
type logLines struct {
	task     *actors.TaskContext
	runes    whole
	stream   *redact.Stream
	progress func(line string)
	lines    splitter
	last     string
}

func (l *logLines) write(piece []byte) error { return l.say(l.stream.Push(l.runes.push(piece)), false) }

func (l *logLines) end() error { return l.say(l.stream.Push(l.runes.end())+l.stream.Close(), true) }

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
	return err
}

// lineProgress tells the progress of lines that match the operator's pattern; nil without one.
func (r *Runner) lineProgress(t *actors.TaskContext) func(line string) {
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
		}
	}
}
