package wire_test

import (
	"bytes"
	"testing"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// What no client is to read is in no message: neither in a notification, however it was sent, nor in a result, over
// either transport.
func TestRedact(t *testing.T) {
	const said, want = "say hunter2 twice: hunter2", "say [token] twice: [token]"
	f := newFixture(t, wire.Config{Door: door.New(door.Config{Redact: func(message []byte) []byte {
		return bytes.ReplaceAll(message, []byte("hunter2"), []byte("[token]"))
	}})})
	url := f.serveHTTP(t)
	for _, tool := range []string{"count"} {
		for _, c := range []*client{modernClient(t, url), sessionClient(t, url)} {
			_, got := c.call("1", tool, `{"n":5,"tag":"`+said+`"}`)
			whole(t, got, 5, "1", want)
		}
		c := f.serveStdio(t)
		c.begin(`{}`)
		c.send(toolCall("1", tool, `{"n":5,"tag":"`+said+`"}`, `"progressToken":"p"`))
		var got []message
		for range 6 {
			got = append(got, c.next())
		}
		whole(t, got, 5, "1", want)
	}
}
