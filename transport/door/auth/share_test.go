package auth_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// A caller who has all in hand that one may have leaves the others their share.
func TestShares(t *testing.T) {
	mia, miasLine := newLine(t, "mia", auth.Admin)
	bob, bobsLine := newLine(t, "bob", auth.Admin)
	held, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	m := newMiddleware(t, auth.Config{Tokens: load(t, tokenFile(t, miasLine, bobsLine)), MaxBody: 1000, Bodies: 4000, Open: 3})
	addr := serve(t, m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			auth.Refuse(w, err)
			return
		}
		if r.URL.Path == "/held" {
			held <- struct{}{}
			<-end
		}
	})))
	post := func(token string, length ...string) answer {
		return send(t, addr, append([]string{"POST / HTTP/1.1", "Host: localhost", "Authorization: Bearer " + token}, length...)...)
	}
	hold := func(bytes string) {
		c, err := net.Dial("tcp", addr)
		must(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = io.WriteString(c, "POST /held HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+mia+
			"\r\nContent-Length: "+bytes+"\r\n\r\n")
		must(t, err)
	}
	hold("1000")
	hold("1000") // whose bodies do not come
	for a := post(mia, "Content-Length: 0"); ; a = post(mia, "Content-Length: 1", "", "x") {
		if a.StatusCode == http.StatusTooManyRequests { // both have been seen by now
			if a.Header.Get("Retry-After") == "" {
				t.Errorf("%v", a.Header)
			}
			break
		}
	}
	if a := post(mia, "Content-Length: 0"); a.StatusCode != http.StatusOK {
		t.Errorf("a request without a body: %s", a.Status)
	}
	hold("0")
	<-held
	if a := post(mia, "Content-Length: 0"); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a fourth request of three: %s", a.Status)
	}
	if a := post(bob, "Content-Length: 0"); a.StatusCode != http.StatusOK {
		t.Errorf("another caller: %s", a.Status)
	}
}
