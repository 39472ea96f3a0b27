package source

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"KEY": "k1", "EMPTY": ""}[name]
		return v, ok
	}
	servers, err := Parse([]byte(`{"mcpServers":{
		"files":{"command":"npx","args":["-y","${WHAT:-server}","${EMPTY:-there}","$KEY"],"env":{"KEY":"${KEY}"},"cwd":"/tmp","trust":true,
			"timeout":1500,"includeTools":["a"],"enabled_tools":["b"],"excludedTools":["c"]},
		"off":{"command":"x","disabled":true},
		"docs":{"type":"http","url":"https://docs.example/mcp","headers":{"Authorization":"Bearer ${KEY}"},"tool_timeout_sec":0.5,
			"startup_timeout_sec":5},
		"gemini":{"httpUrl":"http://localhost:1/mcp"}}}`), lookup)
	want := []Server{
		{Name: "docs", URL: "https://docs.example/mcp", Env: map[string]string{}, Headers: map[string]string{"Authorization": "Bearer k1"},
			Timeout: 500 * time.Millisecond, StartTimeout: 5 * time.Second},
		{Name: "files", Command: "npx", Args: []string{"-y", "server", "there", "$KEY"}, Env: map[string]string{"KEY": "k1"}, Folder: "/tmp",
			Headers: map[string]string{}, Trust: true, Timeout: 1500 * time.Millisecond, StartTimeout: 30 * time.Second,
			Only: []string{"a", "b"}, Except: []string{"c"}},
		{Name: "gemini", URL: "http://localhost:1/mcp", Env: map[string]string{}, Headers: map[string]string{}, StartTimeout: 30 * time.Second},
	}
	if err != nil || !reflect.DeepEqual(servers, want) {
		t.Errorf("%+v, %v", servers, err)
	}
	for settings, words := range map[string]string{
		`[]`:                                 "not JSON",
		`{"servers":{}}`:                     "name no MCP server",
		`{"mcpServers":{"a":{"command":7}}}`: "server a cannot be read",
		`{"mcpServers":{"a":{}}}`:            "needs a command or a url",
		`{"mcpServers":{"a":{"command":"x","url":"http://y"}}}`:   "and not both",
		`{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}`:       "http:// or https://",
		`{"mcpServers":{"a":{"url":"http://y","type":"sse"}}}`:    "type sse, which is not supported",
		`{"mcpServers":{"a":{"command":"x","args":["${NONE}"]}}}`: "the MCP server a needs the variable NONE, which is not set",
		`{"mcpServers":{"a":{"command":"x","timeout":-1}}}`:       "negative timeout",
	} {
		if _, err := Parse([]byte(settings), lookup); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

// Every name is taken by every provider, and no two tools have the same one.
func TestNames(t *testing.T) {
	long := strings.Repeat("l", 60)
	taken := map[string]bool{}
	for _, c := range []struct{ server, tool, want string }{
		{"git", "log", "mcp__git__log"},
		{"a__b", "c", "mcp__a__b__c"},
		{"a", "b__c", "mcp__a__b__c_"},
		{"a", "b.c", "mcp__a__b_c_"},
		{"a", "b_c", "mcp__a__b_c"},
		{"a", long + "1", "mcp__a__" + long[:43] + "_"},
		{"a", long + "2", "mcp__a__" + long[:43] + "_"},
		{"größe", "x", "mcp__gr__e__x_"},
	} {
		got := nameOf(c.server, c.tool, taken)
		if got != c.want && (!strings.HasSuffix(c.want, "_") || len(got) != len(c.want)+12 || !strings.HasPrefix(got, c.want)) ||
			len(got) > mostName || taken[got] {
			t.Errorf("%s of %s is %s", c.tool, c.server, got)
		}
		taken[got] = true
	}
}

func TestBounded(t *testing.T) {
	line := strings.Repeat("x", mostMessage/2) + "\r\n"
	for _, c := range []struct {
		name, text string
		ends       ending
		ok         bool
	}{
		{"lines", line + line + line, withLine, true},
		{"a long line", line[:len(line)-2] + line + line, withLine, false},
		{"short lines", strings.Repeat("x\n", mostLines+2), withLine, true},
		{"an event of many lines", line + line + line, withEvent, false},
		{"an event of short lines", strings.Repeat("x\n", mostLines+2), withEvent, false},
		{"events", line + "\r\n" + line + "\n" + line, withEvent, true},
		{"a body", line + "\n" + line, withAll, false},
		{"a body of short lines", strings.Repeat("x\n", mostLines+2), withAll, true},
	} {
		_, err := io.Copy(io.Discard, &bounded{ReadCloser: io.NopCloser(strings.NewReader(c.text)), ends: c.ends})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
