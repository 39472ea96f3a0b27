package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

var update = flag.Bool("update", false, "rewrite the golden files and the generated parts of docs/mcp.md")

// heldTo holds the text to the file.
func heldTo(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		put(t, name, got)
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != got {
		t.Errorf("%s is not what it was; make update rewrites it. %v\n%s", name, err, got)
	}
}

const docsPage = "../../docs/mcp.md"

// between replaces what stands between the marks of the part.
func between(t *testing.T, page, part, text string) string {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- %s:begin -->\n", part), fmt.Sprintf("<!-- %s:end -->", part)
	before, rest, ok := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no part %s", docsPage, part)
	}
	return before + begin + text + end + after
}

// The page's table is what the door lists, and its examples are what went over the wire.
func TestMCPPage(t *testing.T) {
	data, err := os.ReadFile(docsPage)
	must(t, err)
	page := string(data)
	page = between(t, page, "costs", costs(t))
	s := speak(t, t.TempDir(), allTools...)
	page = between(t, page, "tools", toolTable(t, s.ask("tools/list", `{}`).Result))
	s.ends()
	s = speak(t, plant(t, gardenText))
	page = between(t, page, "sync", s.sync())
	page = between(t, page, "stream", s.streamed())
	s.ends()
	s = speak(t, plant(t, gardenText))
	page = between(t, page, "task", s.task())
	s.ends()
	heldTo(t, docsPage, page)
}

// costs are what a model reads, in tokens of four characters.
func costs(t *testing.T) string {
	t.Helper()
	s := speak(t, plant(t, gardenText))
	answer := func(name, arguments string) (text, structured int) {
		var r struct {
			Content           []json.RawMessage
			StructuredContent json.RawMessage
		}
		var said struct{ Text string }
		result := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)).Result
		must(t, json.Unmarshal(result, &r))
		must(t, json.Unmarshal(r.Content[0], &said))
		var all strings.Builder
		all.WriteString(said.Text)
		for _, link := range r.Content[1:] { // hosts give links to models as JSON
			all.WriteString(string(link))
		}
		return len([]rune(all.String())) / 4, len([]rune(string(r.StructuredContent))) / 4
	}
	const repository = `{"repository":"garden","no_cache":true}`
	text, structured := answer("generate", repository)
	graphText, graphStructured := answer("generate", `{"repository":"garden","no_cache":true,"ctx":true,"graph":true}`)
	s.ends()
	for what, n := range map[string]int{"generate's structured content": structured, "with a graph": graphStructured,
		"its text": text, "its text with a graph": graphText} {
		if n > 220 {
			t.Errorf("%s has %d tokens", what, n)
		}
	}
	return fmt.Sprintf(`| what a model reads | tokens |
|---|---|
| the list of tools | %d |
| with a model (`+"`prompt`, `chat`"+`) | %d |
| with `+"`--tools lmstxt`"+` | %d |
| the result of `+"`generate`"+`: text; structured content | %d; %d |
| the same with llms-ctx.txt and a graph | %d; %d |
| a page of `+"`run_events`"+` | under 1,500 |
`, tokensOfTools(t, listed(t)), tokensOfTools(t, listed(t, "--model", "auto")),
		tokensOfTools(t, listed(t, "--tools", "lmstxt")), text, structured, graphText, graphStructured)
}

func toolTable(t *testing.T, result json.RawMessage) string {
	t.Helper()
	var list struct {
		Tools []struct {
			Name, Title, Description string
			InputSchema              struct {
				Properties map[string]json.RawMessage
				Required   []string
			}
			Annotations struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint bool }
		}
	}
	if err := json.Unmarshal(result, &list); err != nil || len(list.Tools) < 20 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	var b strings.Builder
	b.WriteString("| tool | what it does | arguments; those in bold are needed | effects |\n|---|---|---|---|\n")
	for _, tool := range list.Tools {
		first, _, _ := strings.Cut(tool.Description, ". ")
		var names []string
		for name := range tool.InputSchema.Properties {
			shown := "`" + name + "`"
			if slices.Contains(tool.InputSchema.Required, name) {
				shown = "**" + shown + "**"
			}
			names = append(names, shown)
		}
		slices.Sort(names)
		a, effects := tool.Annotations, []string{"writes"}
		if a.ReadOnlyHint {
			effects[0] = "reads"
		}
		for word, holds := range map[string]bool{"ends something": a.DestructiveHint, "repeatable": a.IdempotentHint,
			"network": a.OpenWorldHint} {
			if holds {
				effects = append(effects, word)
			}
		}
		slices.Sort(effects[1:])
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", tool.Name, strings.TrimSuffix(first, ".")+".",
			strings.Join(names, " "), strings.Join(effects, ", "))
	}
	return b.String()
}

// wire is a part of the page: what was said, line by line. Lines that say -> are the client's.
type wire struct{ lines []string }

func (w *wire) client(line string) { w.lines = append(w.lines, "-> "+line) }

func (w *wire) server(line string) { w.lines = append(w.lines, "<- "+line) }

// text is the part without what differs between two runs; results are spread over several lines.
func (w *wire) text(dir string) string {
	var b strings.Builder
	b.WriteString("```\n")
	for _, line := range w.lines {
		arrow, message := line[:3], evenly(line[3:], dir)
		var wide bytes.Buffer
		if strings.Contains(message, `"result":{"content`) && json.Indent(&wide, []byte(message), "   ", "  ") == nil {
			message = wide.String()
		}
		b.WriteString(arrow + message + "\n")
	}
	return b.String() + "```\n"
}

// evenly takes out of the message what differs between two runs.
func evenly(message, dir string) string {
	message = strings.ReplaceAll(message, dir, "/home/mia")
	for _, v := range []struct{ like, as string }{
		{`r_[a-z0-9]{26}`, "r_4kqxv2m5zj7ay3hd6tnwbfeu2c"},
		{`\d{4}-\d\d-\d\dT[0-9:.]+Z`, "2026-11-20T20:00:00.123456789Z"},
		{`[0-9a-f]{64}`, "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2"},
		{`("version":)"[^"]*"`, `$1"1.0.0"`},
		{`("(?:bytes|size)":)\d+`, "${1}83"},
		{`\d+ bytes`, "83 bytes"},
	} {
		message = regexp.MustCompile(v.like).ReplaceAllString(message, v.as)
	}
	return message
}

// line is the next line as it came.
func (s *mcpSession) line() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	must(s.t, err)
	return strings.TrimSpace(line)
}

func (s *mcpSession) sync() string {
	var w wire
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"generate","arguments":{"repository":"garden",` +
			`"full":"none","no_cache":true}}}`} {
		w.client(line)
		s.say(line)
		w.server(s.line())
	}
	return w.text(s.cmd.Dir)
}

func (s *mcpSession) streamed() string {
	var w wire
	ask := `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"generate","arguments":{` +
		`"repository":"garden","full":"none","no_cache":true},"_meta":{"progressToken":"t1"}}}`
	w.client(ask)
	s.say(ask)
	for {
		line := s.line()
		if strings.Contains(line, `"id":8`) {
			w.server(`{"jsonrpc":"2.0","id":8,"result":{...}}`)
			return w.text(s.cmd.Dir)
		}
		w.server(line)
	}
}

// modernMeta is what every request since 2026-07-28 has, of a client that knows tasks.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

func (s *mcpSession) task() string {
	s.t.Helper()
	var w wire
	ask := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"generate","arguments":{` +
		`"repository":"garden","full":"none","no_cache":true},` + modernMeta + `}}`
	w.client(ask)
	s.say(ask)
	reply := s.line()
	w.server(atOnce(reply))
	var m struct {
		Result struct {
			TaskID string `json:"taskId"`
			Status string `json:"status"`
		}
	}
	if err := json.Unmarshal([]byte(reply), &m); err != nil || m.Result.TaskID == "" {
		s.t.Fatalf("%v: %s", err, reply)
	}
	get := fmt.Sprintf(`{"jsonrpc":"2.0","id":10,"method":"tasks/get","params":{"taskId":%q,%s}}`, m.Result.TaskID, modernMeta)
	for m.Result.Status = ""; m.Result.Status != "completed"; {
		s.say(get)
		reply = s.line()
		if err := json.Unmarshal([]byte(reply), &m); err != nil {
			s.t.Fatalf("%v: %s", err, reply)
		}
	}
	w.client(get)
	w.server(reply)
	return w.text(s.cmd.Dir)
}

// atOnce is the reply of a task that has only begun: how far its run is by then differs.
func atOnce(reply string) string {
	reply = strings.Replace(reply, `"status":"completed"`, `"status":"working"`, 1)
	return regexp.MustCompile(`"statusMessage":"[^"]*",`).ReplaceAllString(reply, "")
}

func TestPrintedSettings(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	origin, err := os.Getwd()
	must(t, err)
	here := t.TempDir()
	t.Chdir(here)
	for _, c := range clientsKnown() {
		for name, flags := range map[string][]string{"local": nil, "flags": {"--out", "x", "--allow-http"},
			"loopback": {"--url", "http://127.0.0.1:7878/mcp"}, "remote": {"--url", "https://runs.example.com/mcp"}} {
			got := run(t, nil, append([]string{"mcp", "--print-config", c.name}, flags...)...)
			if c.remote == "" && flags != nil && flags[0] == "--url" {
				if got.code != exit.Usage || !strings.Contains(got.stderr, "connectors") {
					t.Errorf("%s: exit code %d, %s", c.name, got.code, got.stderr)
				}
				continue
			}
			if got.code != exit.Completed || got.stderr != "for "+c.file+"\n" {
				t.Errorf("%s: exit code %d, %s", c.name, got.code, got.stderr)
			}
			text := strings.ReplaceAll(strings.ReplaceAll(got.stdout, self, "/usr/local/bin/lastword"), here, "/home/mia")
			heldTo(t, filepath.Join(origin, "testdata", "settings", c.name+"-"+name+".txt"), text)
			if text := got.stdout; strings.HasPrefix(text, "{") && !json.Valid([]byte(text)) {
				t.Errorf("%s: %s", c.name, text)
			}
		}
	}
	got := run(t, nil, "mcp", "--print-config", "codex", "--url", "https://runs.example.com/mcp", "--no-cache")
	if got.code != exit.Usage || got.stdout != "" ||
		!strings.Contains(got.stderr, "--no-cache=true is for a server that the client starts") {
		t.Errorf("flags of another's server: exit code %d, %s%s", got.code, got.stdout, got.stderr)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}
