package conversation_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages"
)

// holder names the variable that makes the test's binary a process that has a turn until it is killed.
const holder = "LASTWORD_CONVERSATIONS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holder); dir != "" {
		s, err := conversation.Open(dir, 0)
		if err == nil {
			_, err = s.Begin("c_1", conversation.Beginning{Owner: "r_child", Message: "from the child"})
		}
		fmt.Println("begun:", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// Two processes take turns. What a killed one had is free at once.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holder+"="+dir)
	stdin, err := child.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	must(t, err, child.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if must(t, err); line != "begun: <nil>\n" {
		t.Fatal(line)
	}
	s := open(t, dir)
	_, err = s.Begin("c_1", conversation.Beginning{Owner: "r_1", Message: "hello"})
	if busy, ok := errors.AsType[*conversation.BusyError](err); !ok || busy.Owner != "r_child" {
		t.Errorf("while the child has it: %v", err)
	}
	must(t, child.Process.Kill())
	_ = child.Wait()
	want(t, begin(t, s, "r_1", "hello").History(),
		"user: from the child | assistant: (This turn was interrupted: its process has ended.) | user: hello")
}

// Of many that begin at once, one has the conversation.
func TestRace(t *testing.T) {
	dir := t.TempDir()
	for round := range 20 {
		var won atomic.Int32
		var all sync.WaitGroup
		turns := make([]*conversation.Turn, 8)
		for i := range turns {
			s := open(t, dir)
			all.Go(func() {
				turn, err := s.Begin("c_1", conversation.Beginning{Owner: fmt.Sprint("r_", round, "_", i), Message: "me"})
				if err == nil {
					turns[i] = turn
					won.Add(1)
				} else if _, busy := errors.AsType[*conversation.BusyError](err); !busy {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d have the conversation", won.Load())
		}
		for _, turn := range turns {
			if turn != nil {
				must(t, turn.Say(assistant("you")), turn.End(""))
			}
		}
	}
	info, _, err := open(t, dir).Read("c_1")
	if must(t, err); info.Turns != 20 || info.Messages != 40 || info.Damaged != 0 {
		t.Errorf("the conversation is %+v", info)
	}
}

// A line that cannot be read costs what it said, and nothing else.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, message := range []string{"a", "b", "c"} {
		turn := begin(t, s, "r_"+message, message)
		must(t, turn.Say(assistant("to "+message)), turn.End(""))
	}
	file := filepath.Join(dir, "c_1.jsonl")
	whole, err := os.ReadFile(file)
	must(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for i := range lines[:len(lines)-1] {
		for _, damaged := range [][]byte{lines[i][:len(lines[i])/2], append(make([]byte, len(lines[i])-1), '\n')} {
			log := bytes.Join(lines[:i], nil)
			log = append(log, damaged...)
			if cut := damaged[len(damaged)-1] != '\n'; cut { // as by a power cut; another goes on
				log = append(log, '\n')
			}
			log = append(log, bytes.Join(lines[i+1:], nil)...)
			must(t, os.WriteFile(file, log, 0o600))
			info, said, err := s.Read("c_1")
			must(t, err)
			for j, message := range []string{"a", "b", "c"} {
				text := fmt.Sprintf("%+v", said)
				if strings.Contains(text, " Content:"+message) == (i == 1+3*j) || strings.Contains(text, "to "+message) == (i == 2+3*j) {
					t.Errorf("without line %d there is %+v", i, said)
				}
			}
			if info.Damaged != 1 || info.ID != "c_1" {
				t.Errorf("without line %d: %+v", i, info)
			}
			id, err := s.Fork("c_1", 0)
			must(t, err, s.Export(io.Discard, "c_1"), s.Delete(id))
		}
	}
	cut := whole[:len(whole)-5]
	must(t, os.WriteFile(file, cut, 0o600))
	want(t, begin(t, s, "r_c", "c again").History(), "user: a | assistant: to a | user: b | assistant: to b | user: c again")
}

// FuzzFile reads any bytes as a conversation, which a turn can go on with.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"id":"c_1","format":1}
{"turn":1,"begin":{"owner":"r_1","until":"2000-01-01T00:00:00Z"},"messages":[{"role":"user","content":"a"}]}
{"turn":1,"messages":[{"role":"assistant","content":"b"}],"summary":{"text":"c","covers":-1}}
{"turn":1,"end":"completed"}
{"turn":3,"messages":[{"role":"tool"}],"summary":{"text":"c","covers":2}}
{"turn":3,"begin":{"owner":"r_1"}}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		dir := t.TempDir()
		s := open(t, dir)
		must(t, os.WriteFile(filepath.Join(dir, "c_1.jsonl"), log, 0o600), s.Export(io.Discard, "c_1"))
		_, err := s.Fork("c_1", 1)
		must(t, err)
		turn, err := s.Begin("c_1", conversation.Beginning{Owner: "r_fuzz", Message: "go on"})
		if err != nil {
			return // busy, or of a newer version
		}
		said := turn.History()
		must(t, turn.End(""))
		if len(said) == 0 || said[len(said)-1].Content != "go on" {
			t.Errorf("the history is %+v", said)
		}
	})
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conversations")
	begin(t, open(t, dir), "r_1", "one")
	for name, mode := range map[string]os.FileMode{".": 0o700, "c_1.jsonl": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if must(t, err); info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %s", name, info.Mode())
		}
	}
}

// A full folder goes on with what it has, and begins nothing.
func TestFullFolder(t *testing.T) {
	s, err := conversation.Open(t.TempDir(), 2)
	must(t, err)
	for _, id := range []string{"c_1", "c_2", "c_1"} {
		turn, err := s.Begin(id, conversation.Beginning{Message: "hello"})
		must(t, err)
		must(t, turn.End(""))
	}
	_, err = s.Begin("c_3", conversation.Beginning{Owner: "r_1"})
	if _, forked := s.Fork("c_1", 0); messages.CodeOf(err) != messages.CauseLimitExceeded || forked == nil {
		t.Errorf("the third conversation: %v; a copy: %v", err, forked)
	}
	must(t, s.Delete("c_2"))
	_, err = s.Begin("c_3", conversation.Beginning{Owner: "r_1"})
	must(t, err)
}
