package command

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// resultFile makes the file in which the program may leave its result.
func (x *execution) resultFile(cmd *exec.Cmd) error {
	if x.Result != "json" {
		return nil
	}
	f, err := os.CreateTemp("", "lastword-result-")
	if err != nil {
		return err
	}
	x.file = f.Name()
	cmd.Env = append(cmd.Env, "LASTWORD_RESULT="+x.file)
	return f.Close()
}

// succeed copies the artifacts and sets the result.
func (x *execution) succeed(ctx context.Context) error {
	if err := x.keepArtifacts(ctx); err != nil {
		return err
	}
	result, err := x.outcome(ctx)
	if err != nil {
		return err
	}
	x.task.Summarize(fmt.Sprintf("%s of output", words.Count(x.stdout.total, "byte")))
	return x.task.Result(result, false)
}

// outcome returns the result: what the program sent on descriptor 3, or else what the operator's file says.
func (x *execution) outcome(ctx context.Context) (any, error) {
	if x.channel != nil && x.channel.result != nil {
		return x.channel.result, nil
	}
	switch x.Result {
	case "json":
		return x.jsonResult(ctx)
	case "none":
		return Result{Bytes: x.stdout.total}, nil
	}
	return Result{Text: x.stdout.tail.String(), Bytes: x.stdout.total}, nil
}

// jsonResult takes the result from the file, or else from the last line of stdout.
func (x *execution) jsonResult(ctx context.Context) (json.RawMessage, error) {
	folder, err := regular.Root(filepath.Dir(x.file))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, _, err := confined.Regular(confined.TreeOf(folder), filepath.Base(x.file))
	if err != nil {
		return nil, messages.Errorf(messages.CauseInvalidOutput, "%s has removed or replaced the file LASTWORD_RESULT; write into it", x.Name)
	}
	defer f.Close()
	var cleaned bytes.Buffer
	clean := x.Config.Secrets.Writer(&cleaned)
	_, err = io.Copy(clean, heeding{ctx, io.LimitReader(f, messages.MaxEventBytes/2)})
	if err := errors.Join(err, clean.Close()); err != nil {
		return nil, err
	}
	text := cleaned.Bytes() // stdout has been cleaned, too
	where := "the file LASTWORD_RESULT"
	if len(text) == 0 {
		lines := strings.Split(strings.TrimSpace(x.stdout.tail.String()), "\n")
		text, where = []byte(lines[len(lines)-1]), "the last line of stdout"
	}
	if !json.Valid(text) {
		return nil, messages.Errorf(messages.CauseInvalidOutput, "%s of %s is no JSON", where, x.Name)
	}
	return text, nil
}

// keepArtifacts copies the files that the operator's patterns or the program name.
func (x *execution) keepArtifacts(ctx context.Context) error {
	var named []string
	if x.channel != nil {
		named = x.channel.artifacts
	}
	if x.Config.Folder == nil || len(x.Artifacts)+len(named) == 0 {
		return nil
	}
	from := cmp.Or(x.Dir, ".")
	dir, err := regular.Root(from)
	if err != nil {
		return err
	}
	defer dir.Close()
	files := slices.Clone(named)
	for _, pattern := range x.Artifacts {
		found, err := fs.Glob(listing{ctx, dir}, pattern)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, name := range files {
		if err := errors.Join(context.Cause(ctx), x.keep(ctx, dir, path.Clean(name))); err != nil {
			return err
		}
	}
	return nil
}

// listing has the names of files below a folder, for patterns: as in a shell, without hidden ones. It waits for no file.
type listing struct {
	ctx context.Context
	*os.Root
}

func (l listing) Open(string) (fs.File, error) { return nil, fs.ErrInvalid } // patterns list and describe

func (l listing) Stat(name string) (fs.FileInfo, error) { return l.Lstat(name) }

func (l listing) ReadDir(name string) (all []fs.DirEntry, err error) {
	folder, err := confined.File(l.Root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	for err == nil && l.ctx.Err() == nil {
		var some []fs.DirEntry
		some, err = folder.ReadDir(1000)
		all = append(all, slices.DeleteFunc(some, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })...)
	}
	return all, nil
}

// keep copies a file. It skips a folder.
func (x *execution) keep(ctx context.Context, dir *os.Root, name string) error {
	f, err := confined.Open(dir, name)
	if err != nil {
		return fmt.Errorf("the artifact %s cannot be read: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return x.Config.Keep(ctx, x.task, messages.Artifact{Name: name, Path: path.Join(x.Name, string(x.task.RunID()), name)}, f, info.Size())
}

// Keep copies the first bytes of a file, without secrets, to an artifact in the folder of the run's principal.
func (c *Config) Keep(ctx context.Context, t *actors.TaskContext, a messages.Artifact, from io.Reader, bytes int64) error {
	if c.Spend != nil {
		if err := c.Spend(ctx, t.Principal(), int(bytes)); err != nil {
			return err
		}
	}
	home, err := c.Folder(t.Principal())
	if err != nil {
		return err
	}
	to, err := confined.MakeRoot(home)
	if err != nil {
		return err
	}
	defer to.Close()
	sum := sha256.New()
	err = confined.Write(to, a.Path, 0o644, func(w io.Writer) (err error) {
		clean := c.Secrets.Writer(io.MultiWriter(w, sum, (*counter)(&a.Bytes)))
		_, err = io.Copy(clean, heeding{ctx, io.LimitReader(from, bytes)})
		return errors.Join(err, clean.Close())
	})
	if err != nil {
		return err
	}
	a.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return t.Emit(messages.ArtifactWritten{Artifact: a}, "wrote "+a.Name)
}

// heeding reads until its context ends.
type heeding struct {
	context.Context
	io.Reader
}

func (h heeding) Read(p []byte) (int, error) {
	if err := context.Cause(h); err != nil {
		return 0, err
	}
	return h.Reader.Read(p)
}

// counter counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// mostSaid bounds the output in a description of the outcome.
const mostSaid = 16 << 10

// say describes the outcome of a run to people and models: how it ended, and the end of the program's output.
func say(s messages.State) string {
	var b strings.Builder
	switch {
	case s.End != nil && s.End.Error != nil:
		b.WriteString(s.End.Error.Message)
	case s.End != nil:
		fmt.Fprintf(&b, "%s %s", s.Queued.Job, s.Status)
	}
	var result Result
	if s.End != nil && s.End.Result != nil && json.Unmarshal(s.End.Result, &result) == nil && result == (Result{}) {
		fmt.Fprintf(&b, "\n%s", s.End.Result) // the program's own result
		return b.String()
	}
	end := tail{most: mostSaid}
	for _, t := range s.Streams {
		if !messages.IsStderr(t.Name) { // the log has its newest lines
			end.write(t.Text())
		}
	}
	if text := strings.TrimSpace(end.String()); text != "" {
		fmt.Fprintf(&b, "\n%s", text)
	}
	if s.Status == messages.Failed {
		for _, l := range s.Log.Lines {
			fmt.Fprintf(&b, "\n%s", l.Text)
		}
	}
	return b.String()
}

// Line is the input of the job run: a command line.
type Line struct {
	Command []string `json:"command" jsonschema:"program and arguments, as the operator's file lists them"`
}

// Listed returns the job run. It accepts a command line instead of a job's name and input, but only one that a
// command of the file produces from a valid input. The run is then that command's.
func (f *File) Listed(config Config) actors.Definition {
	limits := messages.Limits{WallClockMS: day.Milliseconds(), StallMS: day.Milliseconds()} // the command's own hold
	return actors.Definition{Name: "run", JobSpec: messages.JobSpec{Title: "Run a listed command", Input: jobschema.Input[Line](),
		Description: "Runs a command line that the operator's file of jobs lists.", Destructive: true, OpenWorld: true, Limits: limits},
		New: actors.Typed(func(line Line) (actors.Job, error) {
			for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
				if input, ok := f.Jobs[name].inputOf(line.Command); ok {
					return f.Jobs[name].job(input, config)
				}
			}
			return actors.Job{}, messages.InvalidInput("the operator of the server lists no command like %q", strings.Join(line.Command, " "))
		})}
}

// inputOf returns the input from which the command produces exactly these words.
func (c *Command) inputOf(words []string) (json.RawMessage, bool) {
	if len(words) != len(c.arguments) {
		return nil, false
	}
	values := map[string]any{}
	for i, a := range c.arguments {
		found := a.pattern().FindStringSubmatch(words[i])
		if found == nil {
			return nil, false
		}
		for j, name := range a.names() {
			values[name] = c.members[name].read(found[j+1])
		}
	}
	input, err := json.Marshal(values)
	if err != nil {
		return nil, false
	}
	if values, err = c.values(input); err != nil {
		return nil, false
	}
	for i, a := range c.arguments {
		if made, err := a.argument(values, c.members); err != nil || made != words[i] {
			return nil, false
		}
	}
	return input, true
}

// pattern returns an expression that matches what the template may produce.
func (t template) pattern() *regexp.Regexp {
	var b strings.Builder
	for i, part := range t {
		if i%2 == 1 {
			b.WriteString("(.*)")
		} else {
			b.WriteString(regexp.QuoteMeta(part))
		}
	}
	return regexp.MustCompile("(?s)^" + b.String() + "$")
}

// read returns the value that is written as text.
func (m member) read(text string) any {
	if m.Type != "string" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
