package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// crashCycles is how often a test kills the program: as often as LASTWORD_CRASH says, or 25 times, with -short 10 times.
func crashCycles(t *testing.T) int {
	wish := os.Getenv("LASTWORD_CRASH")
	if wish == "" && testing.Short() {
		return 10
	}
	if wish == "" {
		return 25
	}
	n, err := strconv.Atoi(wish)
	if err != nil {
		t.Fatalf("LASTWORD_CRASH is %q, not a number of cycles", wish)
	}
	return n
}

// "25 random kill -9 cycles of a loaded server: no seen milestone lost, no second terminal, every run ended." One
// cycle of five ends with SIGTERM instead.
func TestCrash(t *testing.T) {
	seed, cycles := uint64(time.Now().UnixNano()), crashCycles(t)
	t.Logf("seed %d", seed)
	c := newCrash(t, rand.New(rand.NewPCG(seed, 0)))
	for cycle := range cycles {
		c.start(cycle%3 == 0)
		for i := range 3 {
			c.submit(fmt.Sprintf("prompt %d.%d", cycle, i), prompt.Name, `{"text":"Hello","model":"scripted"}`)
			c.submit(fmt.Sprintf("chat %d.%d", cycle, i), chat.Name, `{"message":"Hello","model":"scripted"}`)
			c.submit(fmt.Sprintf("generate %d.%d", cycle, i), generate.Name, `{"repository":"garden","no_cache":true}`)
			c.submit(fmt.Sprintf("agent %d.%d", cycle, i), agent.Name, `{"agent":"double","prompt":"Hello"}`)
		}
		c.submit(fmt.Sprintf("work %d", cycle), "work", `{}`)
		time.Sleep(time.Duration(c.dice.Int64N(int64(400 * time.Millisecond)))) // the kill is to come at any moment
		if cycle%5 == 4 {
			if code := c.server.ends(syscall.SIGTERM); code != exit.Terminated {
				t.Errorf("cycle %d: after SIGTERM the exit code is %d", cycle, code)
			}
		} else {
			c.server.ends(syscall.SIGKILL)
		}
		c.stderr = <-c.server.stderr
	}
	c.start(true)
	c.untilEnded()
	c.judge()
	if code := c.server.ends(syscall.SIGTERM); code != exit.Terminated {
		t.Errorf("at the end the exit code is %d", code)
	}
	c.judgeAgents()
	if pids := left("LEFT=" + c.dir); len(pids) > 0 {
		t.Errorf("the processes %v are left", pids)
	}
	got := verifyAll(t, c.kept)
	if want := fmt.Sprintf("is sound: %s, ", words.Count(len(c.runs), "run")); got.code != exit.Completed || !strings.Contains(got.stdout, want) {
		t.Errorf("the check says %+v, want %s", got, want)
	}
	if t.Failed() {
		t.Logf("the last server said:\n%s", c.stderr)
	}
}

// doubleAgent is an agent that leaves a daemon, says something, asks for a permission, and keeps what it is answered.
const doubleAgent = `setsid sleep 1000 & read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'; read a
for i in 1 2 3 4 5; do echo '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"word "}}}}'; done
echo '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","title":"go","kind":"execute"},"options":[{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}'
read a; echo "$a" >>"$LEFT/answers-$LASTWORD_RUN"; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; cat >>"$LEFT/answers-$LASTWORD_RUN"`

// judgeAgents: no agent has two answers to its question, and one whose run completed has one.
func (c *crash) judgeAgents() {
	files, _ := filepath.Glob(filepath.Join(c.dir, "answers-*")) // the pattern is right
	twice, runs := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(c.t, err)
		if n := strings.Count(string(text), `"id":9`); n > 1 {
			twice++
			c.t.Errorf("an agent was answered %d times: %s", n, text)
		}
	}
	for _, s := range c.runs {
		if s.job == agent.Name {
			runs++
		}
	}
	c.t.Logf("%d runs of agents, %d readers that were cut, %d permissions answered, %d of them twice", runs, c.cuts.Load(), len(files), twice)
}

// left returns the processes whose environment has the entry.
func left(entry string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, file := range all {
		text, _ := os.ReadFile(file) // a process that has ended has none
		if strings.Contains("\x00"+string(text), "\x00"+entry+"\x00") {
			pids = append(pids, strings.Split(file, "/")[2])
		}
	}
	return pids
}

// workFile has a command that leaves a daemon. It fails if anything of an earlier attempt lives.
const workFile = `jobs: {work: {command: [sh, -c, 'exec 9>"$LEFT/$LASTWORD_RUN"; flock -n 9 || exit 99; setsid sleep 1000 & sleep 0.2'], env: [PATH, LEFT], retry: {times: 1, on: [1]}}}`

// crash is a server that is killed under load, and what its callers and readers know of it.
type crash struct {
	t       *testing.T
	dice    *rand.Rand
	dir     string
	kept    string
	socket  string
	model   string
	client  *api.Client
	web     *http.Client
	server  *served
	stderr  string
	token   string
	readers sync.WaitGroup // and callers
	cuts    atomic.Int64   // connections that readers have left

	mu   sync.Mutex
	runs map[messages.RunID]*seen
}

func newCrash(t *testing.T, dice *rand.Rand) *crash {
	m := testkit.NewModel(t)
	m.Always(testkit.Role(), testkit.Tokens(40, 5*time.Millisecond), testkit.Finish("stop"), testkit.Done())
	dir := plant(t, gardenText)
	c := &crash{t: t, dice: dice, dir: dir, kept: filepath.Join(dir, "kept"), socket: filepath.Join(dir, "s"), model: m.URL(),
		runs: map[messages.RunID]*seen{}}
	must(t, os.Mkdir(filepath.Join(dir, "root"), 0o755))
	put(t, filepath.Join(dir, "double"), doubleAgent)
	put(t, filepath.Join(dir, "jobs.yaml"), workFile+fmt.Sprintf("\nagents: {double: {command: [sh, %q], roots: [%q], env: [PATH, LEFT]}}\n", filepath.Join(dir, "double"), filepath.Join(dir, "root")))
	c.token = strings.TrimSpace(run(t, nil, "token", "add", "--file", filepath.Join(dir, "tokens"), "owner", "--scope", "admin").stdout)
	for i := range 40 { // so that a generate run takes a while
		put(t, filepath.Join(dir, "garden", "docs", fmt.Sprintf("plant%d.md", i)), "# Plant\n\n"+strings.Repeat("It grows.\n\n", 500))
	}
	var err error
	c.client, err = api.New("unix:"+c.socket, c.token)
	must(t, err)
	c.web = &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.socket)
		}}}
	return c
}

// start starts the server. With wait, it waits until the orphans have ended. make bench shows how fast they do.
func (c *crash) start(wait bool) {
	c.t.Helper()
	var orphans []*seen
	c.mu.Lock()
	for _, s := range c.runs {
		if s.job == prompt.Name && !s.ended.Load() {
			orphans = append(orphans, s)
		}
	}
	c.mu.Unlock()
	cmd := binary(c.t, c.dir, "serve", "--unix", c.socket, "--state", c.kept, "--allow-local",
		"--base-url", c.model, "--max-runs-each", "1000", "--drain", "100ms", "--jobs", "jobs.yaml", "--tokens", "tokens")
	cmd.Env = append(cmd.Env, "LEFT="+c.dir)
	c.server = serving(c.t, cmd)
	if !wait {
		return
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for _, s := range orphans {
		for state, err := c.client.State(ctx, s.id); err != nil || !state.Status.IsEnded(); state, err = c.client.State(ctx, s.id) {
			if ctx.Err() != nil {
				c.t.Fatalf("a minute after a start the orphan %s is %s, %v", s.id, state.Status, err)
			}
		}
	}
}

// submit starts a run, and tries until the server has answered. Then a reader follows it to its end.
func (c *crash) submit(key, job, input string) {
	c.readers.Go(func() {
		for {
			id, err := c.client.Submit(c.t.Context(), messages.Request{Key: key, Job: job, Input: json.RawMessage(input)})
			if e, ok := errors.AsType[*messages.Error](err); ok && e.Retryable {
				continue // Submit has waited
			}
			if err != nil {
				c.t.Errorf("start %s: %v", key, err)
				return
			}
			s := &seen{id: id, job: job, key: key, input: json.RawMessage(input), milestones: map[uint64]string{}}
			c.mu.Lock()
			other := c.runs[id]
			c.runs[id] = s
			c.mu.Unlock()
			if other != nil {
				c.t.Errorf("%s and %s are the same run", key, other.key)
			}
			c.follow(s)
			return
		}
	})
}

// untilEnded waits until every caller has its run, and every reader its terminal.
func (c *crash) untilEnded() {
	c.t.Helper()
	ended := make(chan struct{})
	go func() { c.readers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.runs {
			if !s.ended.Load() {
				c.t.Errorf("run %s of %s has not ended", s.id, s.key)
			}
		}
		c.t.FailNow()
	}
}

// judge compares what the readers saw with what the journal holds.
func (c *crash) judge() {
	ends := map[string]int{}
	for _, s := range c.runs {
		var journal messages.Fold
		terminals := 0
		for e, err := range c.client.Follow(c.t.Context(), s.id, messages.FollowOptions{}) {
			if err == nil {
				err = journal.Apply(e)
			}
			if err != nil {
				c.t.Errorf("run %s of %s cannot be read: %v", s.id, s.key, err)
				break
			}
			if e.IsTerminal() {
				terminals++
			}
			if !e.IsDelta() {
				s.keeps(c.t, e)
			}
		}
		state := journal.State()
		if terminals != 1 || len(s.milestones) > 0 {
			c.t.Errorf("run %s of %s has %d terminals, and lost the milestones %v", s.id, s.key, terminals, s.milestones)
		}
		if live, now := asJSON(c.t, s.state.State()), asJSON(c.t, state); live != now {
			c.t.Errorf("run %s of %s: its reader across the crashes has\n%s\nand a new one\n%s", s.id, s.key, live, now)
		}
		end := strings.TrimSuffix(fmt.Sprint(s.job, " ", state.Status, " ", state.End.Cause), " ")
		if ends[end]++; !mayEnd[end] && state.Recoveries < 9 { // a run is not started again for ever
			c.t.Errorf("run %s of %s ended as %s: %v", s.id, s.key, end, state.End.Error)
		}
		if id, err := c.client.Submit(c.t.Context(), messages.Request{Key: s.key, Job: s.job, Input: s.input}); id != s.id || err != nil {
			c.t.Errorf("the key of run %s starts %s, %v", s.id, id, err)
		}
	}
	c.t.Logf("%d runs: %v", len(c.runs), ends)
}

// mayEnd lists the ends of runs that no fault of theirs has ended.
var mayEnd = map[string]bool{
	"generate completed": true, "prompt completed": true, "prompt failed node_lost": true, "prompt failed shutdown": true,
	"chat completed": true, "work completed": true, "agent completed": true, "agent failed node_lost": true, "agent failed shutdown": true,
}
