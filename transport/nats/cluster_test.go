package nats_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/nats"
)

// roleVariable makes the test binary a server or a node.
const roleVariable = "LASTWORD_CLUSTER_ROLE"

// TestCluster runs three servers and four nodes as processes, in real time. One after the other is killed, paused or
// cut off while runs go on. Every run is completed, once, and a reader elsewhere sees its events in order.
func TestCluster(t *testing.T) {
	if os.Getenv("LASTWORD_CLUSTER") == "" {
		t.Skip("make cluster runs it")
	}
	c := startCluster(t)
	t.Run("of four writers at one head one lands", c.writers)
	t.Run("a killed leader costs no run", c.killedLeader)
	t.Run("a killed node loses its runs to another", c.killedNode)
	t.Run("a paused node loses its runs and knows it", c.pausedNode)
	t.Run("a node that is cut off loses its runs and knows it", c.cutNode)
}

type cluster struct {
	urls    []string
	servers map[string]*process // by their names in the cluster
	nodes   []*process
	line    *line         // of the last node to a server
	journal *nats.Journal // of the test
}

func startCluster(t *testing.T) *cluster {
	c := &cluster{servers: map[string]*process{}}
	client, routes := freePorts(t, 3), freePorts(t, 3)
	for i, port := range client {
		name := "s" + strconv.Itoa(i)
		c.urls = append(c.urls, "nats://127.0.0.1:"+port)
		c.servers[name] = start(t, "server", name, port, routes[i], strings.Join(routes, ","), t.TempDir())
	}
	up := func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+client[0])
		return err == nil && conn.Close() == nil
	}
	for began := time.Now(); !up() && time.Since(began) < time.Minute; {
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	var err error
	if c.journal, err = nats.Open(t.Context(), strings.Join(c.urls, ",")); err != nil { // the servers are still electing
		t.Fatal(err)
	}
	t.Logf("opened within %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() { _ = c.journal.Close() })
	if w := c.journal.Warnings(); len(w) != 0 {
		t.Errorf("three servers are warned of: %q", w)
	}
	for i := range 3 {
		c.nodes = append(c.nodes, start(t, "node", "n"+strconv.Itoa(i), strings.Join(append(c.urls[i:], c.urls[:i]...), ",")))
	}
	c.line = newLine(t, strings.TrimPrefix(c.urls[0], "nats://"))
	c.nodes = append(c.nodes, start(t, "node", "n3", "nats://"+c.line.Addr().String()))
	return c
}

func freePorts(t *testing.T, n int) (ports []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

// line passes bytes between a node and a server, except while it is cut: then they wait.
type line struct {
	net.Listener
	cut sync.RWMutex // held while the line is cut
}

func newLine(t *testing.T, server string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				_ = here.Close()
				continue
			}
			go l.pass(here, there)
			go l.pass(there, here)
		}
	}()
	return l
}

func (l *line) pass(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	for buf := make([]byte, 32<<10); ; {
		n, err := from.Read(buf)
		l.cut.RLock()
		_, errWrite := to.Write(buf[:n])
		l.cut.RUnlock()
		if err != nil || errWrite != nil {
			return
		}
	}
}

// process is this test binary in a role.
type process struct {
	*exec.Cmd
	role  []string
	in    io.Writer
	lines chan string // of its stdout
}

func start(t *testing.T, role ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0]), role: role, lines: make(chan string, 100)}
	p.Env = append(os.Environ(), roleVariable+"="+strings.Join(role, " "))
	p.Stderr = os.Stderr
	in, errIn := p.StdinPipe()
	out, errOut := p.StdoutPipe()
	if err := errors.Join(errIn, errOut, p.Start()); err != nil {
		t.Fatal(err)
	}
	p.in = in
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

// play is the role of a process of the test.
func play(role string) error {
	arg := strings.Fields(role)
	if arg[0] == "server" {
		return playServer(arg[1], arg[2], arg[3], strings.Split(arg[4], ","), arg[5])
	}
	return playNode(arg[1], arg[2])
}

func playServer(name, port, route string, routes []string, dir string) error {
	at := func(s string) int { n, _ := strconv.Atoi(s); return n }
	o := &server.Options{ServerName: name, Host: "127.0.0.1", Port: at(port), JetStream: true, StoreDir: dir, NoLog: true,
		SyncAlways: true, Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: at(route)}}
	for _, r := range routes {
		if r != route {
			o.Routes = append(o.Routes, server.RoutesFromStr("nats://127.0.0.1:"+r)...)
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	_, err = io.Copy(io.Discard, os.Stdin) // until the test ends
	return err
}

// playNode starts a run for each line on stdin, and says its id.
func playNode(name, urls string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := nats.Open(ctx, urls)
	if err != nil {
		return err
	}
	speech := func(json.RawMessage) (actors.Job, error) {
		return actors.Job{Name: "speech", Restart: true, Tasks: []actors.Task{{Name: "speak", Run: speak}}}, nil
	}
	s, err := actors.New(ctx, actors.Config{Journal: j, Node: name, Jobs: map[string]actors.NewJob{"speech": speech}})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		id, err := s.Submit(context.Background(), messages.Request{Job: "speech", Mode: messages.Detached})
		for began := time.Now(); err != nil && time.Since(began) < 30*time.Second; { // the node was cut off a moment ago
			time.Sleep(100 * time.Millisecond)
			id, err = s.Submit(context.Background(), messages.Request{Job: "speech", Mode: messages.Detached})
		}
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return nil
}

// speak says 160 words in eight seconds.
func speak(ctx context.Context, t *actors.TaskContext) error {
	var said strings.Builder
	for n := range 160 {
		word := strconv.Itoa(n) + " "
		said.WriteString(word)
		if err := t.Say("speech", word); err != nil {
			return err
		}
		if n%20 == 0 {
			if err := t.Progress(int64(n), 160, "words"); err != nil {
				return err
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return t.Said("speech", said.String())
}

// begin starts so many runs at the node.
func (p *process) begin(t *testing.T, n int) (runs []messages.RunID) {
	t.Helper()
	for len(runs) < n {
		_, err := io.WriteString(p.in, "start\n")
		for id := "ready"; id == "ready"; {
			if id = p.line(); id == "" || err != nil {
				t.Fatalf("a node has not started a run (%v)", err)
			}
			if id != "ready" {
				runs = append(runs, messages.RunID(id))
			}
		}
	}
	return runs
}

func (p *process) line() string {
	select {
	case line := <-p.lines:
		return line
	case <-time.After(time.Minute):
		return ""
	}
}

// end follows the run from another connection to its end.
func (c *cluster) end(t *testing.T, run messages.RunID, within time.Duration) messages.State {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var log []messages.Event
	for e, err := range actors.NewArchive(c.journal).Events(ctx, run, 0) {
		if err != nil {
			t.Errorf("run %s after %d events: %v", run, len(log), err)
			return messages.State{}
		}
		log = append(log, e)
	}
	if err := testkit.Check(log); err != nil {
		t.Errorf("run %s: %v", run, err)
	}
	state, err := actors.NewArchive(c.journal).State(ctx, run)
	if err != nil {
		t.Error(err)
	}
	return state
}

// ends waits for all, and judges each.
func (c *cluster) ends(t *testing.T, runs []messages.RunID, within time.Duration, judge func(messages.State) error) {
	t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for _, run := range runs {
		all.Go(func() {
			state := c.end(t, run, within)
			if err := judge(state); err != nil {
				t.Errorf("run %s ended as %s after %s: %v", run, state.Status, time.Since(began).Round(time.Millisecond), err)
			}
		})
	}
	all.Wait()
	t.Logf("%d runs ended within %s", len(runs), time.Since(began).Round(time.Millisecond))
}

func complete(s messages.State) error {
	if s.Status != messages.Completed {
		return fmt.Errorf("want completed (%+v)", s.End)
	}
	return nil
}

// continued wants a run that was completed by another node than its first.
func continued(s messages.State) error {
	if s.Recoveries == 0 {
		return errors.New("no other node has started it again")
	}
	return complete(s)
}

func (c *cluster) writers(t *testing.T) {
	var js []*nats.Journal
	for i := range 4 {
		j, err := nats.Open(t.Context(), c.urls[i%3])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		js = append(js, j)
	}
	must(t, js[0], block("r_race", 0, 1, queued))
	for round := range uint64(200) {
		ends := make([]error, len(js))
		var all sync.WaitGroup
		for i, j := range js {
			b := block("r_race", 1+round, byte(i), messages.FaultInjected{Fault: strconv.Itoa(i)})
			b.ID[1], b.ID[2] = byte(round), 1
			all.Go(func() { ends[i] = add(j, b) })
		}
		all.Wait()
		landed := 0
		for _, err := range ends {
			switch {
			case err == nil:
				landed++
			case !errors.Is(err, actors.ErrFenced):
				t.Errorf("a loser got %v", err)
			}
		}
		if landed != 1 {
			t.Fatalf("%d of %d blocks at one head landed", landed, len(js))
		}
	}
	must(t, js[0], block("r_race", 201, 9, failed))
}

// leader returns the name of the server that leads the stream.
func (c *cluster) leader(t *testing.T) string {
	t.Helper()
	nc, err := natsgo.Connect(strings.Join(c.urls, ","))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "RUNS")
	if err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().Cluster.Leader
}

func (c *cluster) killedLeader(t *testing.T) {
	var runs []messages.RunID
	for _, n := range c.nodes {
		runs = append(runs, n.begin(t, 10)...)
	}
	time.Sleep(2 * time.Second)
	name := c.leader(t)
	victim := c.servers[name]
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	c.ends(t, runs, time.Minute, complete)
	c.servers[name] = start(t, victim.role...)
}

func (c *cluster) killedNode(t *testing.T) {
	runs := c.nodes[0].begin(t, 20)
	time.Sleep(2 * time.Second)
	if err := c.nodes[0].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.ends(t, runs, time.Minute, continued)
}

func (c *cluster) pausedNode(t *testing.T) {
	runs := c.nodes[1].begin(t, 20)
	time.Sleep(2 * time.Second)
	if err := c.nodes[1].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(15*time.Second, func() { _ = c.nodes[1].Process.Signal(syscall.SIGCONT) }).Stop()
	c.lost(t, c.nodes[1], runs)
}

// cutNode leaves the node at work: what it says comes late.
func (c *cluster) cutNode(t *testing.T) {
	runs := c.nodes[3].begin(t, 20)
	time.Sleep(2 * time.Second)
	c.line.cut.Lock()
	defer time.AfterFunc(15*time.Second, c.line.cut.Unlock).Stop()
	c.lost(t, c.nodes[3], runs)
}

// lost checks that the runs have gone to other nodes, and that their first adds nothing when it is back.
func (c *cluster) lost(t *testing.T, node *process, runs []messages.RunID) {
	c.ends(t, runs, time.Minute, continued)
	time.Sleep(5 * time.Second) // what the node still says would be in the logs now
	c.ends(t, runs, time.Second, continued)
	c.ends(t, node.begin(t, 1), time.Minute, complete)
}
