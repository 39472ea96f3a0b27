//go:build unix

package lab_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/testkit"
	httpclient "github.com/seed889630bf/lastword/transport/http/client"
)

// cluster is three nats-servers and three nodes of lastword serve, each a process, and the model that the nodes ask.
type cluster struct {
	testing.TB
	model  *testkit.Model
	urls   []string // of the NATS servers
	stores [3]*process
	nodes  [3]*node
	tokens map[string]string // by principal
	left   string            // an entry in the environment of commands
	long   bool              // make cluster
}

// process can be started again after its end, with the same arguments.
type process struct {
	testing.TB
	name string
	args []string
	env  []string
	log  string // file of stderr
	cmd  *exec.Cmd
	end  chan struct{} // closed when the process has ended
}

// node is lastword serve. Its connections to each NATS server go through a cable that can be cut.
type node struct {
	process
	url    string
	cables [3]*cable
}

// principal is who starts runs, unless a test says otherwise; other uses up a quota, and spender the tokens of a day.
const principal, other, spender = "ann", "bob", "cid"

// runsEach is the quota of a principal.
const runsEach = 100

// startCluster starts the nodes that the source of a version builds, with these arguments of serve.
func startCluster(t testing.TB, source string, with ...string) *cluster {
	t.Helper()
	c := &cluster{TB: t, model: testkit.NewModel(t), tokens: map[string]string{}, long: os.Getenv("LASTWORD_CLUSTER") != ""}
	dir := t.TempDir()
	natsServer, lastword := filepath.Join(dir, "nats-server"), filepath.Join(dir, "lastword")
	c.build(natsServer, ".", "github.com/nats-io/nats-server/v2")
	c.build(lastword, source, "./cmd/lastword")
	ports := freePorts(t, 9)
	clients, routes, doors := ports[:3], ports[3:6], ports[6:]
	for i := range c.stores {
		c.urls = append(c.urls, "nats://127.0.0.1:"+clients[i])
		config := filepath.Join(dir, fmt.Sprintf("s%d.conf", i))
		must(t, os.WriteFile(config, []byte(storeConfig(i, clients[i], routes, dir)), 0o600))
		c.stores[i] = &process{TB: t, name: fmt.Sprintf("s%d", i), args: []string{natsServer, "-c", config}}
		c.stores[i].start()
	}
	for _, at := range clients {
		eventually(t, time.Minute, "nats-server listens", func() error {
			conn, err := net.Dial("tcp", "127.0.0.1:"+at)
			if err != nil {
				return err
			}
			return conn.Close()
		})
	}
	c.addTokens(lastword, filepath.Join(dir, "tokens"))
	jobs := filepath.Join(dir, "jobs.yaml")
	must(t, os.WriteFile(jobs, []byte(jobsFile), 0o600))
	c.left = "LEFT=" + dir
	for i := range c.nodes {
		n := &node{url: "http://127.0.0.1:" + doors[i]}
		var cables []string
		for k, at := range clients {
			n.cables[k] = newCable(t, "127.0.0.1:"+at)
			cables = append(cables, "nats://"+n.cables[k].Addr().String())
		}
		home := filepath.Join(dir, fmt.Sprintf("n%d", i))
		n.process = process{TB: t, name: fmt.Sprintf("n%d", i), args: append([]string{lastword, "serve",
			"--http", "127.0.0.1:" + doors[i], "--nats", strings.Join(cables, ","), "--out", filepath.Join(home, "out"),
			"--tokens", filepath.Join(dir, "tokens"), "--max-runs-each", fmt.Sprint(runsEach), "--rate=-1",
			"--base-url", c.model.URL(), "--allow-local", "--drain", "5s"}, with...),
			env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), c.left}}
		if source == root { // 0.1.0 knows no jobs of files
			n.process.env = append(n.process.env, "LASTWORD_SERVE_JOBS="+jobs)
		}
		c.nodes[i] = n
		n.start()
	}
	for _, n := range c.nodes {
		n.waitReady(t)
	}
	return c
}

// storeConfig is the configuration of a NATS server. Clients learn no other address than the one that they were given.
func storeConfig(i int, client string, routes []string, dir string) string {
	var others []string
	for k, port := range routes {
		if k != i {
			others = append(others, `"nats://127.0.0.1:`+port+`"`)
		}
	}
	return fmt.Sprintf(`server_name: s%d
listen: "127.0.0.1:%s"
jetstream { store_dir: %q, sync_interval: always }
cluster { name: test, listen: "127.0.0.1:%s", no_advertise: true, routes: [%s] }
`, i, client, filepath.Join(dir, fmt.Sprintf("store%d", i)), routes[i], strings.Join(others, ", "))
}

// build builds a program of the module in the folder, or of one that it requires.
func (c *cluster) build(binary, module, pkg string) {
	build := exec.Command("go", "-C", module, "build", "-o", binary, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	combined(c, build)
}

func (c *cluster) addTokens(lastword, file string) {
	for _, who := range []string{principal, other, spender} {
		out, err := exec.Command(lastword, "token", "add", "--file", file, who).Output()
		must(c, err)
		c.tokens[who] = strings.TrimSpace(string(out))
	}
}

// at is the client of a node.
func (c *cluster) at(i int) *httpclient.Client { return c.as(principal, i) }

func (c *cluster) as(who string, i int) *httpclient.Client {
	to, err := httpclient.New(c.nodes[i].url, c.tokens[who])
	must(c, err)
	return to
}

func (p *process) start() {
	p.Helper()
	if p.log == "" {
		p.log = filepath.Join(p.TempDir(), p.name)
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(p, err)
	cmd, end := exec.Command(p.args[0], p.args[1:]...), make(chan struct{})
	cmd.Env, cmd.Stderr = p.env, log
	must(p, cmd.Start())
	_ = log.Close() // the process has it
	go func() { _ = cmd.Wait(); close(end) }()
	if p.cmd == nil {
		p.Cleanup(func() {
			p.kill()
			if text, err := os.ReadFile(p.log); err == nil && p.Failed() {
				p.Logf("%s says:\n%s", p.name, text[max(0, len(text)-4<<10):])
			}
		})
	}
	p.cmd, p.end = cmd, end
}

func (p *process) signal(s os.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Error(err)
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.end
}

// terminate asks the process to end, and waits for it.
func (p *process) terminate(within time.Duration) {
	p.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.end:
	case <-time.After(within):
		p.Errorf("%s has not ended within %s of SIGTERM", p.name, within)
		p.kill()
	}
}

// ready returns what /readyz answers.
func (n *node) ready() (status int, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+"/readyz", nil)
	if err != nil {
		return 0, err.Error()
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, strings.TrimSpace(string(body))
}

func (n *node) waitReady(t testing.TB) {
	t.Helper()
	eventually(t, time.Minute, n.name+" is ready", func() error {
		select {
		case <-n.end:
			t.Fatalf("%s has ended: %v", n.name, n.cmd.ProcessState)
		default:
		}
		if status, text := n.ready(); status != http.StatusOK {
			return fmt.Errorf("/readyz answers %d, %s", status, text)
		}
		return nil
	})
}

// cut keeps all bytes between the node and NATS until the returned function is called.
func (n *node) cut() (mend func()) {
	for _, c := range n.cables {
		c.cut.Lock()
	}
	return sync.OnceFunc(func() {
		for _, c := range n.cables {
			c.cut.Unlock()
		}
	})
}

// eventually fails the test unless f succeeds in time.
func eventually(t testing.TB, within time.Duration, what string, f func() error) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Since(began) > within {
			t.Fatalf("%s: not within %s: %v", what, within, err)
		}
	}
}

// cable passes bytes between a node and a NATS server, except while it is cut: then they wait.
type cable struct {
	net.Listener
	cut sync.RWMutex // held while the cable is cut
}

func newCable(t testing.TB, server string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cable{Listener: listener}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		for {
			here, err := c.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil {
				_ = here.Close()
				continue
			}
			go c.pass(here, there)
			go c.pass(there, here)
		}
	}()
	return c
}

func (c *cable) pass(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	for buf := make([]byte, 32<<10); ; {
		n, err := from.Read(buf)
		c.cut.RLock()
		_, errWrite := to.Write(buf[:n])
		c.cut.RUnlock()
		if err != nil || errWrite != nil {
			return
		}
	}
}
