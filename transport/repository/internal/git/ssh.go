package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	skeema "github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// SSH is what ssh needs to know about the user. The configuration files of ssh are not read, so aliases of hosts do not
// work.
type SSH struct {
	Agent      string   // socket of the agent, as in SSH_AUTH_SOCK
	KnownHosts []string // files with host keys; missing files are skipped
	Keys       []string // files with private keys; files that are unreadable or have a passphrase are skipped
}

// openSSH connects to the host. The connection lasts until the source is closed or ctx ends.
func openSSH(ctx context.Context, u *url.URL, o Options, m *meter) (source, error) {
	command, err := uploadPackOf(u)
	if err != nil {
		return nil, err
	}
	port := cmp.Or(u.Port(), "22")
	address := net.JoinHostPort(u.Hostname(), port)
	config, hangUp, err := clientConfig(ctx, u, address, o.SSH)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	conn, err := o.Allow.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	closing := func() { stop(); _ = conn.Close() }
	s, err := startSSH(conn, address, config, command, m)
	if err != nil {
		closing()
		return nil, explainSSH(ctx, u.Hostname(), m, err)
	}
	return &wire{session: s, host: u.Hostname(), meter: m, limits: o.Limits, closing: closing}, nil
}

// uploadPackOf returns the command git-upload-pack with a quoted path. It refuses a path that looks like an option.
func uploadPackOf(u *url.URL) (string, error) {
	path := u.Path
	if strings.HasPrefix(path, "/~") {
		path = path[1:]
	}
	path = strings.TrimPrefix(path, "~/") // the command starts in the user's home
	if path == "" || path == "/" || strings.HasPrefix(path, "-") || strings.ContainsAny(path, "\x00\n") {
		return "", messages.InvalidInput("the ssh URL names no repository; write it as ssh://user@host/path")
	}
	return "git-upload-pack '" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path) + "'", nil
}

// clientConfig prepares an ssh connection. It never asks for passwords. The function closes the connection to the
// agent.
func clientConfig(ctx context.Context, u *url.URL, address string, o SSH) (*ssh.ClientConfig, func(), error) {
	trusted, algorithms, err := knownHosts(o.KnownHosts, address)
	if err != nil {
		return nil, nil, err
	}
	signers, hangUp := o.signers(ctx)
	if len(signers) == 0 {
		hangUp()
		return nil, nil, messages.InvalidInput("ssh has no key to offer: start an agent (SSH_AUTH_SOCK), or use https; %s", tokenHint)
	}
	user := cmp.Or(u.User.Username(), "git")
	return &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signers...)},
		HostKeyCallback: trusted, HostKeyAlgorithms: algorithms}, hangUp, nil
}

// knownHosts reads the files that exist. It returns the check of keys, and the algorithms of those that the
// address is known to have.
func knownHosts(files []string, address string) (ssh.HostKeyCallback, []string, error) {
	var there []string
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return nil, nil, messages.InvalidInput("ssh knows no hosts: there is no known_hosts file; connect once with ssh, or use https")
	}
	db, err := skeema.NewDB(there...)
	if err != nil {
		return nil, nil, messages.InvalidInput("the known_hosts files cannot be read: %s", oneLine(err.Error()))
	}
	return db.HostKeyCallback(), db.HostKeyAlgorithms(address), nil
}

// signers returns the keys of the agent, and those in files that the agent does not have. They work until the returned
// function closes the connection to the agent.
func (o SSH) signers(ctx context.Context) ([]ssh.Signer, func()) {
	all, hangUp := o.agentSigners(ctx)
	for _, name := range o.Keys {
		text, err := regular.Read(name, regular.Small)
		if err != nil {
			continue
		}
		if key, err := ssh.ParsePrivateKey(text); err == nil {
			all = append(all, key)
		}
	}
	return all, hangUp
}

// agentSigners returns no keys if the agent does not answer, because the key files may suffice.
func (o SSH) agentSigners(ctx context.Context) ([]ssh.Signer, func()) {
	if o.Agent == "" {
		return nil, func() {}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", o.Agent)
	if err != nil {
		return nil, func() {}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	all, _ := agent.NewClient(conn).Signers()
	return all, func() { stop(); _ = conn.Close() }
}

// explainSSH returns an error that says what the user can do. An unknown host is never accepted.
func explainSSH(ctx context.Context, host string, m *meter, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if key, ok := errors.AsType[*knownhosts.KeyError](err); ok && len(key.Want) == 0 {
		return messages.InvalidInput("%s is not among the known hosts; connect once with ssh and check its key, or use https", host)
	} else if ok {
		return messages.InvalidInput("%s shows another key than the known one: somebody may be listening; check known_hosts", host)
	}
	if _, ok := errors.AsType[*knownhosts.RevokedError](err); ok {
		return messages.InvalidInput("%s shows a key that was revoked; check known_hosts", host)
	}
	if strings.Contains(err.Error(), "unable to authenticate") {
		return messages.InvalidInput("%s accepts none of the keys; check that the agent holds the right one, or use https", host)
	}
	return dial.Explain(ctx, host, err)
}

// sshSession runs git-upload-pack over an ssh connection. go-git's own session would dial by itself and skip all
// checks.
type sshSession struct {
	session *ssh.Session
	in      io.WriteCloser
	out     io.ReadCloser
	said    *clipped // standard error
}

// startSSH logs in and starts the command on conn. The caller closes conn if this fails.
func startSSH(conn net.Conn, address string, config *ssh.ClientConfig, command string, m *meter) (*sshSession, error) {
	c, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if err != nil {
		return nil, err
	}
	session, err := ssh.NewClient(c, channels, requests).NewSession()
	if err != nil {
		return nil, err
	}
	in, noIn := session.StdinPipe()
	out, noOut := session.StdoutPipe()
	if err := errors.Join(noIn, noOut); err != nil {
		return nil, err
	}
	s := &sshSession{session: session, in: in, out: metered{io.NopCloser(out), m}, said: new(clipped)}
	session.Stderr = s.said
	return s, session.Start(command)
}

// AdvertisedReferencesContext reads the server's refs. To cancel it, close the connection.
func (s *sshSession) AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error) {
	adv := packp.NewAdvRefs()
	err := adv.Decode(s.out)
	switch {
	case errors.Is(err, packp.ErrEmptyInput):
		_ = s.session.Wait() // until all of standard error was read
		if text := oneLine(s.said.text.String()); text != "" {
			return nil, messages.InvalidInput("the server refused: %s", text)
		}
		return nil, err
	case errors.Is(err, packp.ErrEmptyAdvRefs), err == nil && adv.IsEmpty():
		return nil, transport.ErrEmptyRemoteRepository
	}
	return adv, err
}

// UploadPack sends the whole request at once, without negotiation, and reads the response.
func (s *sshSession) UploadPack(
	_ context.Context, request *packp.UploadPackRequest,
) (*packp.UploadPackResponse, error) {
	if err := request.UploadRequest.Encode(s.in); err != nil {
		return nil, err
	}
	if err := pktline.NewEncoder(s.in).EncodeString("done\n"); err != nil {
		return nil, err
	}
	if err := s.in.Close(); err != nil {
		return nil, err
	}
	answer := packp.NewUploadPackResponse(request)
	return answer, answer.Decode(s.out)
}

// clipped is a writer that keeps only the beginning.
type clipped struct{ text bytes.Buffer }

func (c *clipped) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), max(0, 1024-c.text.Len()))])
	return len(p), nil
}
