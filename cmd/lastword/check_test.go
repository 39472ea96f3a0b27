package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

// TestCheckOfAnAddress: what an address holds is checked like a file, but only from where it may be read.
func TestCheckOfAnAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/llms.txt" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte("# Title\n\n> Summary.\n\nRead on.\n\n## Docs\n\n- [There](docs/there.md)\nno item\n- [Gone](http://" + r.Host + "/gone)\n- [Here](http://" + r.Host + "/llms.txt#a)\n"))
	}))
	defer server.Close()
	at := server.URL + "/llms.txt"
	for _, c := range []struct {
		args         []string
		code         int
		stdout, says string
	}{
		{[]string{at, "--allow-http", "--allow-private"}, exit.Failed, at + ":10: error: ", "1 file, 1 error, 0 warnings\n"},
		{[]string{at, "--allow-http", "--allow-private", "--links"}, exit.Failed, at + ":11: error: the link \"" + server.URL + "/gone\" gives no page: ", "1 file, 2 errors, 0 warnings\n"},
		{[]string{at, "--allow-http"}, exit.Usage, "", "--allow-private"},
		{[]string{at, "--allow-private"}, exit.Usage, "", "--allow-http"},
		{[]string{server.URL + "/none", "--allow-http", "--allow-private"}, exit.Usage, "", "lastword: "},
		{[]string{at, "--allow-http", "--allow-private", "--stale"}, exit.Usage, "", "--stale needs the folder of the repository"},
	} {
		got := run(t, nil, append([]string{"check"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.stdout, c.stdout) || !strings.Contains(got.stderr, c.says) {
			t.Errorf("check %q: %+v", c.args, got)
		}
	}
}
