package lines

import (
	"context"
	"net"
	"os"
	"testing"
	"time"
)

// A result on stdio waits until the client has read what is before it, over a pipe and over a socket.
func TestDrainedWaitsForTheReader(t *testing.T) {
	for name, ends := range map[string]func(*testing.T) (in, out *os.File){"pipe": pipe, "socket": socket} {
		t.Run(name, func(t *testing.T) {
			in, out := ends(t)
			w := NewWriter(out, func(b []byte) []byte { return b })
			go w.Run()
			defer close(w.closing)
			if err := w.Append(t.Context(), []byte("an event")); err != nil {
				t.Fatal(err)
			}
			brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if w.WaitRead(brief, time.Hour); brief.Err() == nil {
				t.Error("the result would have been written before the client had read the event")
			}
			if _, err := in.Read(make([]byte, 64)); err != nil {
				t.Fatal(err)
			}
			w.WaitRead(t.Context(), time.Hour)
		})
	}
}

func pipe(t *testing.T) (in, out *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	return in, out
}

// socket is what Node.js gives the processes that it starts.
func socket(t *testing.T) (in, out *os.File) {
	t.Helper()
	listener, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return fileOf(t, dialed), fileOf(t, accepted)
}

func fileOf(t *testing.T, c net.Conn) *os.File {
	t.Helper()
	file, err := c.(*net.UnixConn).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close(); c.Close() })
	return file
}
