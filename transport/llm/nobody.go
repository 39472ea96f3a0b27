package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
)

// unanswered is why no answer came, without the URL that net/http puts before it. nobody says that no server is there,
// and that the words say what to do.
func (c *Client) unanswered(err error) (words string, nobody bool) {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "dial" || !c.meant(op.Addr) {
		return c.without(err.Error()), false
	}
	reason := op.Err
	if call, ok := errors.AsType[*os.SyscallError](reason); ok {
		reason = call.Err
	}
	return fmt.Sprintf("nothing answers at %s (%v): start LM Studio or another server there, or name one with "+
		"--base-url; lastword doctor says more", c.base.Host, reason), true
}

// meant says that an address is the server's and not a proxy's, as far as the port tells. A host without an address
// comes with none.
func (c *Client) meant(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	usual := map[string]string{"http": "80", "https": "443"}[c.base.Scheme]
	return ok && strconv.Itoa(tcp.Port) == cmp.Or(c.base.Port(), usual)
}
