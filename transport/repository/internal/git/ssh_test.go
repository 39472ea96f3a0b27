package git_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

// sshServer runs what a session asks for by a shell in root, as sshd does.
type sshServer struct {
	address  string
	host     ssh.Signer
	user     ed25519.PrivateKey
	root     string
	commands chan string
	run      func(channel ssh.Channel, command string) uint32
}

func newKey(t *testing.T) (ed25519.PrivateKey, ssh.Signer) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	signer, err := ssh.NewSignerFromKey(key)
	must(t, err)
	return key, signer
}

func serveSSH(t *testing.T, root string) *sshServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &sshServer{address: listener.Addr().String(), root: root, commands: make(chan string, 100)}
	s.run = s.shell
	var user ssh.Signer
	s.user, user = newKey(t)
	_, s.host = newKey(t)
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || string(key.Marshal()) != string(user.PublicKey().Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	config.AddHostKey(s.host)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { s.serve(conn, config) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); open.Wait() })
	return s
}

func (s *sshServer) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for asked := range channels {
		channel, requests, err := asked.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			var command struct{ Text string }
			if r.Type != "exec" || ssh.Unmarshal(r.Payload, &command) != nil {
				_ = r.Reply(false, nil)
				continue
			}
			_ = r.Reply(true, nil)
			s.commands <- command.Text
			status := s.run(channel, command.Text)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			_ = channel.Close()
		}
	}
}

func (s *sshServer) shell(channel ssh.Channel, command string) uint32 {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, channel, channel.Stderr()
	cmd.Env = append(os.Environ(), "HOME="+s.root)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	go func() { _, _ = io.Copy(in, channel); _ = in.Close() }()
	if cmd.Run() != nil {
		return 128
	}
	return 0
}

// options know the host and hold the user's key in a file.
func (s *sshServer) options(t *testing.T) git.Options {
	t.Helper()
	dir := t.TempDir()
	block, err := ssh.MarshalPrivateKey(s.user, "")
	must(t, err)
	write(t, filepath.Join(dir, "id"), string(pem.EncodeToMemory(block)))
	write(t, filepath.Join(dir, "known_hosts"), knownhosts.Line([]string{s.address}, s.host.PublicKey())+"\n")
	return git.Options{
		Allow: git.Allow{SSH: true, Private: true},
		SSH: git.SSH{
			KnownHosts: []string{filepath.Join(dir, "nowhere"), filepath.Join(dir, "known_hosts")},
			Keys:       []string{filepath.Join(dir, "nowhere"), filepath.Join(dir, "known_hosts"), filepath.Join(dir, "id")},
		},
	}
}

func TestFetchOverSSH(t *testing.T) {
	root := t.TempDir()
	_, commit := small(t, root, "o/r.git")
	s := serveSSH(t, root)
	for _, url := range []string{"ssh://git@" + s.address + root + "/o/r.git", "ssh://" + s.address + "/~/o/r.git"} {
		var done int64
		remote, o := git.Remote{URL: url, Rest: "master/docs"}, s.options(t)
		head, err := git.Resolve(patience(t), remote, o)
		must(t, err)
		files, err := git.Fetch(patience(t), remote, head, o, func(n, _ int64) { done = n })
		must(t, err)
		same(t, read(t, files), map[string]string{"a.md": "a\n"})
		if want := (git.Head{Commit: commit.String(), Ref: "master", Dir: "docs"}); *head != want || done == 0 {
			t.Errorf("head %+v, want %+v; %d bytes", *head, want, done)
		}
	}
	if got := <-s.commands; got != "git-upload-pack '"+root+"/o/r.git'" {
		t.Errorf("the server was asked to run %q", got)
	}
}

func TestFetchOverSSHWithAnAgent(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	s := serveSSH(t, root)
	o := s.options(t)
	o.SSH.Keys = nil
	_, err := git.Resolve(patience(t), git.Remote{URL: "ssh://" + s.address + "/~/r.git"}, o)
	refused(t, err, messages.CauseInvalidInput, "SSH_AUTH_SOCK")
	o.SSH.Agent = agentWith(t, s.user)
	if _, err := git.Resolve(patience(t), git.Remote{URL: "ssh://" + s.address + "/~/r.git"}, o); err != nil {
		t.Error(err)
	}
}

func agentWith(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "a") // names of sockets are short
	must(t, err)
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	ring := agent.NewKeyring()
	must(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { _ = agent.ServeAgent(ring, conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); open.Wait(); _ = os.RemoveAll(dir) })
	return listener.Addr().String()
}

// The path is one word for the server's shell, whatever it holds.
func TestPathsOverSSHAreNoCommands(t *testing.T) {
	root := t.TempDir()
	s := serveSSH(t, root)
	for _, path := range []string{
		"/x';%20touch%20pwned;%20'", "/$(touch%20pwned)", "/`touch%20pwned`", "/x&&touch%20pwned",
		"/x!!", "/~/x;touch%20pwned",
	} {
		_, err := git.Resolve(patience(t), git.Remote{URL: "ssh://" + s.address + path}, s.options(t))
		refused(t, err, messages.CauseInvalidInput, "refused")
	}
	for _, path := range []string{"", "/", "/~/-x", "/~/", "/a%0Ab", "/a%00b"} {
		_, err := git.Resolve(patience(t), git.Remote{URL: "ssh://" + s.address + path}, s.options(t))
		refused(t, err, messages.CauseInvalidInput, "names no repository")
	}
	if _, err := os.Stat(filepath.Join(root, "pwned")); err == nil {
		t.Error("a path was run")
	}
}

func TestSSHRefusals(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	build(t, root, "empty.git")
	s := serveSSH(t, root)
	good := git.Remote{URL: "ssh://" + s.address + "/~/r.git"}
	_, stranger := newKey(t)
	for name, c := range map[string]struct {
		spoil func(o *git.Options)
		words string
	}{
		"no known_hosts": {func(o *git.Options) { o.SSH.KnownHosts = nil }, "known_hosts"},
		"unknown host": {func(o *git.Options) {
			write(t, o.SSH.KnownHosts[1], knownhosts.Line([]string{"example.com"}, s.host.PublicKey())+"\n")
		}, "not among the known hosts"},
		"another key": {func(o *git.Options) {
			write(t, o.SSH.KnownHosts[1], knownhosts.Line([]string{s.address}, stranger.PublicKey())+"\n")
		}, "another key"},
		"not this key": {func(o *git.Options) {
			other, _ := newKey(t)
			block, err := ssh.MarshalPrivateKey(other, "")
			must(t, err)
			write(t, o.SSH.Keys[2], string(pem.EncodeToMemory(block)))
		}, "none of the keys"},
		"not private": {func(o *git.Options) { o.Allow.Private = false }, "--allow-private"},
		"not ssh":     {func(o *git.Options) { o.Allow.SSH = false }, "--allow-ssh"},
	} {
		o := s.options(t)
		c.spoil(&o)
		_, err := git.Resolve(patience(t), good, o)
		if err == nil || messages.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := git.Resolve(patience(t), git.Remote{URL: "ssh://" + s.address + "/~/nowhere.git"}, s.options(t))
	refused(t, err, messages.CauseInvalidInput, "nowhere.git")
	_, err = git.Resolve(patience(t), git.Remote{URL: "ssh://" + s.address + "/~/empty.git"}, s.options(t))
	refused(t, err, messages.CauseInvalidInput, "empty")
	_, _, err = get(patience(t), git.Remote{URL: good.URL, Ref: strings.Repeat("12", 20)}, s.options(t))
	refused(t, err, messages.CauseInvalidInput, "does not give out")
}

func TestCancelWhileSSHStalls(t *testing.T) {
	s := serveSSH(t, t.TempDir())
	for _, says := range []string{"", "00", "003f1234567890123456789012345678901234567890 refs/heads/master\x00"} {
		stalled := make(chan struct{})
		s.run = func(channel ssh.Channel, _ string) uint32 {
			fmt.Fprint(channel, says)
			close(stalled)
			_, _ = io.Copy(io.Discard, channel)
			return 0
		}
		because := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(patience(t))
		var left sync.WaitGroup
		left.Go(func() { <-stalled; cancel(because) })
		_, err := git.Resolve(ctx, git.Remote{URL: "ssh://" + s.address + "/r"}, s.options(t))
		if !errors.Is(err, because) {
			t.Errorf("%q: got %v", says, err)
		}
		left.Wait()
	}
}

var must = fatal.IfError
