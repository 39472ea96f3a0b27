package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"golang.org/x/crypto/ssh"
)

// sshSession is git-upload-pack at the other end of an ssh connection; go-git's
// own dials by itself, past every check.
type sshSession struct {
	session *ssh.Session
	in      io.WriteCloser
	out     io.ReadCloser
	said    *clipped // on standard error
}

func startSSH(conn net.Conn, address string, config *ssh.ClientConfig, command string, m *meter) (*sshSession, error) {
	c, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if err != nil {
		return nil, err
	}
	session, err := ssh.NewClient(c, channels, requests).NewSession()
	if err != nil {
		return nil, err
	}
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &sshSession{session: session, in: in, out: metered{io.NopCloser(out), m}, said: new(clipped)}
	session.Stderr = s.said
	return s, session.Start(command)
}

// AdvertisedReferencesContext reads what the server says first. The context ends
// by closing the connection.
func (s *sshSession) AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error) {
	adv := packp.NewAdvRefs()
	err := adv.Decode(s.out)
	switch {
	case errors.Is(err, packp.ErrEmptyInput):
		_ = s.session.Wait() // for the rest of what it says
		if text := line(s.said.text.String()); text != "" {
			return nil, invalid("the server refused: %s", text)
		}
		return nil, err
	case errors.Is(err, packp.ErrEmptyAdvRefs), err == nil && adv.IsEmpty():
		return nil, transport.ErrEmptyRemoteRepository
	}
	return adv, err
}

// UploadPack sends the request whole, for it negotiates nothing, and reads on.
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

// clipped keeps the beginning of what is written to it.
type clipped struct{ text bytes.Buffer }

func (c *clipped) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), max(0, 1024-c.text.Len()))])
	return len(p), nil
}
