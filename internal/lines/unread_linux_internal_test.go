package lines

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
)

// A result on stdio waits until the client has read what is before it, over a pipe and over a socket.
func TestDrainedWaitsForTheReader(t *testing.T) {
	for name, ends := range map[string]func(*testing.T) (in, out *os.File){"pipe": pipe, "socket": socket} {
		t.Run(name, func(t *testing.T) {
			in, out := ends(t)
			w := NewWriter(out, func(b []byte) []byte { return b })
			go w.Run()
			defer close(w.closing)
			must(t, w.Append(t.Context(), []byte("an event")))
			brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if w.WaitRead(brief, time.Hour); brief.Err() == nil {
				t.Error("the result would have been written before the client had read the event")
			}
			_, err := in.Read(make([]byte, 64))
			must(t, err)
			w.WaitRead(t.Context(), time.Hour)
		})
	}
}

func pipe(t *testing.T) (in, out *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { in.Close(); out.Close() })
	return in, out
}

// socket is what Node.js gives the processes that it starts.
func socket(t *testing.T) (in, out *os.File) {
	t.Helper()
	listener, err := net.Listen("unix", t.TempDir()+"/s")
	must(t, err)
	defer listener.Close()
	dialed, err := net.Dial("unix", listener.Addr().String())
	must(t, err)
	accepted, err := listener.Accept()
	must(t, err)
	return fileOf(t, dialed), fileOf(t, accepted)
}

func fileOf(t *testing.T, c net.Conn) *os.File {
	t.Helper()
	file, err := c.(*net.UnixConn).File()
	must(t, err)
	t.Cleanup(func() { file.Close(); c.Close() })
	return file
}

var must = fatal.IfError
