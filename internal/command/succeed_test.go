//go:build linux

package command_test

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
)

//go:embed testdata/listed.yaml
var listed []byte

// A command line is the run of the command that lists it, and no other is run.
func TestOnlyListedCommandLinesRun(t *testing.T) {
	file, err := command.Read(listed, nil)
	must(t, err)
	config := command.Config{}
	// Forms show the fields in the order of the file.
	if schema := string(file.Definitions(config)[0].Input()); !regexp.MustCompile("word.*n\":.*on\":.*required.*word.*n").MatchString(schema) {
		t.Errorf("the order is lost: %s", schema)
	}
	s := faultplan.Open(t, actors.Config{Jobs: append(file.Definitions(config), file.Listed(config))})
	for _, c := range fatal.Table[[]struct {
		Words []string
		Input string // "" is refused
	}](t, "testdata/listed.json") {
		input, _ := json.Marshal(command.Line{Command: c.Words})
		id, err := s.Submit(t.Context(), messages.Request{Job: "run", Input: input})
		if c.Input == "" {
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Errorf("%q: %v", c.Words, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", c.Words, err)
		}
		state, err := s.State(t.Context(), id)
		if err != nil || state.Queued.Job != "say" || string(state.Queued.Input) != c.Input {
			t.Errorf("%q is %s with %s: %v", c.Words, state.Queued.Job, state.Queued.Input, err)
		}
	}
}

// The caller's values are arguments, and nothing more.
func TestArgumentsAreTheOperators(t *testing.T) {
	n := start(t, command.Command{Command: []string{"printf", "%s|", "{a}", "x{a}", "{b}", "{c}"}, Input: map[string]json.RawMessage{
		"a": json.RawMessage(`{"type":"string"}`), "b": json.RawMessage(`{"type":"string","pattern":"^-?[a-z]*$"}`),
		"c": json.RawMessage(`{"type":"number","default":1.50}`)}}, command.Config{})
	s := n.follow(n.submit(`{"a":"$(id); 'b' {b}","b":"-n"}`), nil)
	if want := `$(id); 'b' {b}|x$(id); 'b' {b}|-n|1.50|`; output(s) != want {
		t.Errorf("the arguments are %q, not %q", output(s), want)
	}
	for _, input := range []string{`{"a":"-rf","b":""}`, `{"a":"\u0000","b":""}`, `{"a":"x"}`, `{"a":"x","b":"B"}`, `{"a":"x","b":"","d":1}`,
		`{"a":1,"b":""}`, `[]`, `{"a":"x","b":"","c":-1}`} {
		if _, err := n.system.Submit(t.Context(), messages.Request{Job: "it", Input: json.RawMessage(input)}); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// Whatever the program leaves in place of its files: the run ends, and tells no other file.
func TestReplacedFilesDoNotHoldTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   messages.Status
	}{
		"a pipe":         {`rm $LASTWORD_RESULT; mkfifo $LASTWORD_RESULT`, messages.Failed},
		"a link":         {`rm $LASTWORD_RESULT; echo 1 >it; ln -s $PWD/it $LASTWORD_RESULT`, messages.Failed},
		"a device":       {`rm $LASTWORD_RESULT; ln -s /dev/zero $LASTWORD_RESULT`, messages.Failed},
		"a folder":       {`rm $LASTWORD_RESULT; mkdir $LASTWORD_RESULT`, messages.Failed},
		"nothing":        {`rm $LASTWORD_RESULT`, messages.Failed},
		"its folder":     {`cd ..; rm -r $OLDPWD; mkfifo $OLDPWD; echo 1`, messages.Failed},
		"an artifact":    {`mkdir d; mkfifo d/a.txt; echo 1`, messages.Failed},
		"a pipe between": {`mkfifo d; echo 1`, messages.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			n := start(t, command.Command{Command: shell(c.script), Result: "json", Dir: dir, Artifacts: []string{"d/*.txt", "*/*/b"}, Timeout: limit(20_000)},
				command.Config{Folder: func(string) (string, error) { return t.TempDir(), nil }})
			if s := n.follow(n.submit(""), nil); s.Status != c.want || s.End.Cause == messages.CauseDeadline {
				t.Errorf("%s, cause %s: %v", s.Status, s.End.Cause, s.End.Error)
			}
		})
	}
}

// The timeout and a cancel count until what the program left has been read.
func TestTimeoutCountsUntilTheAttemptIsOver(t *testing.T) {
	n := start(t, command.Command{Command: shell(`truncate -s 1T a.txt`), Dir: t.TempDir(), Artifacts: []string{"*.txt"}, Timeout: limit(300)},
		command.Config{Folder: func(string) (string, error) { return t.TempDir(), nil }})
	if s := n.follow(n.submit(""), nil); s.End.Cause != messages.CauseDeadline {
		t.Errorf("%s, cause %s: %v", s.Status, s.End.Cause, s.End.Error)
	}
}
