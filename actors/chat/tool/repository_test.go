package tool_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/chat/tool"
)

func TestRepository(t *testing.T) {
	var many, wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "line %d\n", i+1)
	}
	wide.WriteString("wide " + strings.Repeat("x", 1000))
	files := fstest.MapFS{
		"README.md": {Data: []byte("# Title\r\nA word.\n")}, "src/main.go": {Data: []byte("package main\n\nfunc main() {}\n")},
		"many.txt": {Data: []byte(many.String())}, "image.png": {Data: []byte("\x89PNG\x00main")}, "empty": {},
		"wide": {Data: []byte(wide.String())}, ".git/config": {Data: []byte("password = main")},
		".env": {Data: []byte("DATABASE_PASSWORD=correcthorsebattery")}, "id_rsa": {Data: []byte("AAAA")},
		"tls.key": {Data: []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n")},
		"key.md":  {Data: []byte("# Key\n-----BEGIN PRIVATE KEY-----\nAAAAB3NzaC1yc2E\n-----END PRIVATE KEY-----\nthe end\n")},
		"pipe":    {Mode: fs.ModeNamedPipe}, "deep/.GIT/config": {Data: []byte("password = main")},
	}
	set := newSet(t, tool.Repository(files)...)
	for _, c := range []struct{ name, arguments, want string }{
		{"list_files", `{}`, "README.md\ndeep/\nempty\nid_rsa\nimage.png\nkey.md\nmany.txt\npipe\nsrc/\ntls.key\nwide\n"},
		{"list_files", `{"path":"/src/"}`, "main.go\n"},
		{"list_files", `{"path":"none"}`, "error: there is no none in the repository; list_files shows what there is"},
		{"list_files", `{"path":"../etc"}`, `error: "../etc" is not below the folder; give a relative name such as docs/guide.md`},
		{"list_files", `{"path":".git"}`, `error: ".git" is hidden; give a name without a part that begins with a dot`},
		{"read_file", `{"path":"README.md"}`, "# Title\r\nA word.\n"},
		{"read_file", `{"path":"many.txt","from":998}`, "line 998\nline 999\nline 1000\n"},
		{"read_file", `{"path":"many.txt","from":2,"most":2}`, "line 2\nline 3\n[997 more lines; go on with from 4]"},
		{"read_file", `{"path":"many.txt","from":9,"most":9223372036854775807}`, strings.Join(strings.SplitAfter(many.String(), "\n")[8:], "")},
		{"read_file", `{"path":"many.txt","from":1001}`, "error: many.txt has 1000 lines; give a smaller from"},
		{"read_file", `{"path":"empty"}`, "(no output)"},
		{"read_file", `{"path":"src"}`, "error: src is not a file; list_files shows folders"},
		{"read_file", `{"path":"pipe"}`, "error: pipe is not a file; list_files shows folders"},
		{"read_file", `{"path":"image.png"}`, "error: image.png is not a text file"},
		{"read_file", `{"path":"deep/.git/config"}`, `error: "deep/.git/config" is hidden; give a name without a part that begins with a dot`},
		{"read_file", `{"path":"id_rsa"}`, "error: id_rsa holds secrets, which are for nobody here"},
		{"read_file", `{"path":"tls.key"}`, "error: tls.key holds secrets, which are for nobody here"},
		{"read_file", `{"path":"key.md","from":3}`, "the end\n"},
		{"search_files", `{"pattern":"AAAA|correcthorse|the end"}`, "key.md:3: the end\n"},
		{"search_files", `{"pattern":"main"}`, "src/main.go:1: package main\nsrc/main.go:3: func main() {}\n"},
		{"search_files", `{"pattern":"word\\.$","path":"README.md"}`, "README.md:2: A word.\n"},
		{"search_files", `{"pattern":"nowhere"}`, "nothing matches"},
		{"search_files", `{"pattern":"("}`, "error: the pattern is wrong: error parsing regexp: missing closing ): `(`"},
		{"search_files", `{"pattern":"x","path":"none"}`, "error: there is no none in the repository; list_files shows what there is"},
		{"search_files", `{"pattern":"wide"}`, "wide:1: wide " + strings.Repeat("x", 295) + "…\n"},
	} {
		if got := set.Call(t.Context(), c.name, with(c.arguments)); got.Text != c.want {
			t.Errorf("%s(%s):\n got %q\nwant %q", c.name, c.arguments, got.Text, c.want)
		}
	}
	got := set.Call(t.Context(), "search_files", with(`{"pattern":"line"}`)).Text
	if n := strings.Count(got, "\n"); n != 101 || !strings.HasSuffix(got, "narrow the pattern or the path\n") {
		t.Errorf("%d lines match: …%s", n, got[len(got)-80:])
	}
	if !set.Idempotent("list_files") || !set.Idempotent("read_file") || !set.Idempotent("search_files") {
		t.Error("reading is not idempotent")
	}
}
