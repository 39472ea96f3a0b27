package testkit_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/packed"
)

var update = flag.Bool("update", false, "draw the picture of the packages in docs/design.md")

const module = "github.com/seed889630bf/lastword"

// rule says what the packages that its pattern names may import besides the standard library. Each field is a list with
// spaces between. Ours are patterns of this module's packages. A library is an import path or, ending in "/...", a path
// and everything below it. Tests may import what their package may, the package itself, actors/journal, testkit, forTests,
// testLibraries, and what is in tests by its import path, where lastword/ is this module.
type rule struct {
	pkgs, ours, libs, tests string
	// denied are packages of the standard library, for code and those tests that do not name them.
	denied string
}

// offline are the packages that nothing needs which reaches no network and logs by what it is given.
const offline = "net net/http log"

// jobs are the program's own, which no program outside can import.
const jobs = "internal/chat internal/tool internal/command internal/plan internal/artifact "

// basics are the packages of the room messages that most packages build on.
const basics = "messages messages/model internal/redact internal/secret internal/source internal/words"

// everywhere are packages of a few lines over the standard library, which every package may import.
const everywhere = "internal/lazyregexp internal/packed internal/stable"

// protocol is what a package may import that speaks another system's format.
const protocol = "messages messages/model transport/door transport/door/* internal/jsonrpc transport/internal/pieces transport/internal/rpc"

// library is what llmstxt may import, so that it can become a module by moving its folder; parsers are its libraries.
const (
	library = "messages internal/secret internal/words internal/confined actors/llmstxt/internal/* actors/llmstxt/internal/*/*"
	parsers = "github.com/pelletier/go-toml/v2/... github.com/yuin/goldmark/... go.yaml.in/yaml/v3 golang.org/x/mod/..."
)

// rules holds the layers: imports point down. The first rule that names a package is its rule; a package
// that none names fails, and so does a rule that names no package.
var rules = []rule{
	{pkgs: "messages", tests: "github.com/santhosh-tekuri/jsonschema/v6 github.com/google/jsonschema-go/...", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/explain", ours: "messages internal/words", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/validate", ours: "messages internal/jsonwalk internal/words",
		libs:   "github.com/santhosh-tekuri/jsonschema/v6/... golang.org/x/text/... go.yaml.in/yaml/v3",
		denied: offline + " os/exec log/slog"},
	{pkgs: "internal/lazyregexp", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/packed", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/stable", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/jsonwalk", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/decode", ours: "messages messages/model internal/jsonwalk", denied: offline + " os/exec log/slog"},
	{pkgs: "messages/model", ours: "messages internal/jsonwalk", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/words", ours: "messages", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/secret", ours: "messages", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/redact", ours: "messages", denied: offline + " os/exec log/slog"},
	{pkgs: "internal/source", ours: "messages", denied: offline + " os/exec log/slog"},
	{pkgs: "supervision", ours: "messages", libs: "github.com/asynkron/protoactor-go/actor", denied: offline},
	{pkgs: "supervision/fault", ours: "messages", denied: offline + " os"},
	{pkgs: "internal/regular", denied: offline},
	{pkgs: "internal/atomicfile", libs: "golang.org/x/sys/...", denied: offline},
	{pkgs: "internal/confined", ours: "internal/regular messages internal/atomicfile", denied: offline},
	{pkgs: "actors/journal", ours: "messages", denied: offline + " os"},
	{pkgs: "actors/jobschema", ours: "messages internal/jsonwalk", libs: "github.com/google/jsonschema-go/jsonschema", denied: offline + " os"},
	{pkgs: "actors/internal/log", ours: "messages supervision actors/journal", libs: "go.uber.org/zap", denied: offline + " os"},
	{pkgs: "actors", ours: "actors/internal/log messages internal/jsonwalk internal/validate internal/words supervision supervision/fault actors/jobschema actors/journal",
		libs: "github.com/asynkron/protoactor-go/actor go.uber.org/zap/...", denied: offline},
	{pkgs: "internal/structured", ours: basics + " internal/validate internal/decode supervision actors",
		libs: "github.com/google/jsonschema-go/...", denied: offline},
	{pkgs: "actors/call", ours: basics + " supervision actors", denied: offline},
	{pkgs: "actors/prompt", ours: "internal/validate " + basics + " supervision actors actors/call actors/jobschema", denied: offline},
	{pkgs: "internal/chat", ours: "internal/conversation " + basics + " supervision actors actors/call actors/jobschema internal/structured internal/tool internal/chat/internal/citation",
		tests: "lastword/transport/mcp/source", denied: offline},
	{pkgs: "internal/tool",
		ours: "messages internal/validate messages/model internal/secret internal/words actors internal/atomicfile internal/confined internal/regular",
		libs: "github.com/google/jsonschema-go/jsonschema", denied: offline},
	{pkgs: "internal/conversation", ours: "internal/regular messages messages/model internal/words internal/confined internal/atomicfile", denied: offline},
	{pkgs: "internal/chat/internal/citation", ours: "internal/decode", denied: offline},
	{pkgs: "actors/plan", denied: offline + " os"},
	{pkgs: "internal/plan", ours: "messages internal/validate messages/model internal/words supervision actors actors/jobschema actors/plan internal/plan/internal/expression",
		tests: "lastword/transport/sqlite lastword/internal/artifact", denied: offline},
	{pkgs: "internal/schedule", ours: "messages supervision", libs: "github.com/robfig/cron/v3 go.uber.org/zap", tests: "os", denied: offline + " os"},
	{pkgs: "internal/webhook", ours: "messages internal/validate supervision supervision/fault actors", libs: "go.uber.org/zap",
		tests: "os", denied: offline + " os"},
	{pkgs: "internal/command",
		ours: "internal/regular internal/validate " + basics + " supervision supervision/fault actors internal/confined actors/jobschema internal/schedule",
		libs: "github.com/creack/pty golang.org/x/sys/windows", denied: offline},
	{pkgs: "actors/agent",
		ours: "internal/regular " + basics + " actors internal/command actors/jobschema internal/schedule internal/confined", denied: offline},
	{pkgs: "internal/wrapped", ours: "messages", denied: offline + " os"},
	{pkgs: "actors/wrap", ours: "messages internal/wrapped supervision actors", denied: offline + " os"},
	{pkgs: "actors/durable", ours: "internal/wrapped actors actors/wrap", denied: offline + " os"},
	{pkgs: "internal/artifact", ours: "messages actors internal/confined actors/jobschema", denied: offline},
	{pkgs: "internal/plan/internal/expression", libs: "go.starlark.net/syntax go.starlark.net/starlark", denied: offline + " os"},
	{pkgs: "actors/generate",
		ours: "internal/regular " + basics + " supervision actors actors/llmstxt internal/structured actors/call internal/atomicfile internal/confined actors/jobschema",
		libs: "go.uber.org/zap", tests: "lastword/transport/repository", denied: offline},
	{pkgs: "actors/llmstxt", ours: library, tests: "github.com/santhosh-tekuri/jsonschema/v6 github.com/google/jsonschema-go/...", denied: offline + " os"},
	{pkgs: "actors/llmstxt/internal/*", ours: library, libs: parsers,
		tests: "lastword/actors/llmstxt github.com/santhosh-tekuri/jsonschema/v6 github.com/google/jsonschema-go/...", denied: offline},
	{pkgs: "actors/llmstxt/internal/*/*", ours: library, libs: parsers, denied: offline},
	{pkgs: "internal/jsonrpc", ours: "messages transport/door/auth"},
	{pkgs: "transport/internal/rpc", ours: "transport/door internal/jsonrpc"},
	{pkgs: "transport/internal/pieces", ours: "messages messages/model transport/door transport/door/*"},
	{pkgs: "internal/lines", libs: "golang.org/x/sys/unix"},
	{pkgs: "transport/internal/*", ours: "messages internal/words"},
	{pkgs: "internal/dial", ours: "messages internal/words", tests: "golang.org/x/net/dns/dnsmessage"},
	{pkgs: "transport/door/auth", ours: "internal/regular messages internal/words transport/door/seal", tests: "lastword/internal/server"},
	{pkgs: "transport/door/seal"},
	{pkgs: "internal/server", ours: "messages transport/door/auth", libs: "golang.org/x/sys/unix"},
	{pkgs: "transport/door/transcript", ours: "messages messages/model internal/words"},
	{pkgs: "transport/door", ours: "messages internal/validate messages/model internal/words transport/door/*", libs: "github.com/coder/websocket github.com/klauspost/compress/flate",
		tests: "lastword/internal/jsonrpc lastword/transport/internal/rpc lastword/transport/internal/pieces"},
	{pkgs: "transport/nano", ours: protocol, tests: "github.com/coder/websocket"},
	{pkgs: "transport/looopy", ours: protocol + " transport/looopy/internal/credential", tests: "lastword/actors"},
	{pkgs: "transport/looopy/internal/credential", ours: "messages"},
	{pkgs: "transport/erlmcp", ours: protocol, tests: "lastword/actors github.com/coder/websocket"},
	{pkgs: "transport/a2a", ours: protocol},
	{pkgs: "transport/agui", ours: protocol},
	{pkgs: "transport/aisdk", ours: protocol},
	{pkgs: "internal/acp", ours: protocol + " internal/words internal/lines", libs: "github.com/coder/acp-go-sdk"},
	{pkgs: "transport/openai", ours: protocol + " transport/openai/internal/*", tests: "github.com/sashabaranov/go-openai"},
	{pkgs: "transport/openai/internal/*", ours: protocol + " transport/openai/internal/*"},
	{pkgs: "internal/issuer", ours: "messages transport/door/auth internal/dial", libs: "github.com/golang-jwt/jwt/v5", tests: "github.com/go-jose/go-jose/v4/..."},
	{pkgs: "internal/webhook/send", ours: "messages internal/dial"},
	{pkgs: "transport/repository", ours: "internal/dial internal/regular messages internal/redact internal/source internal/words internal/confined transport/internal/* transport/repository/internal/*"},
	{pkgs: "transport/repository/internal/archive", ours: "internal/dial internal/regular messages internal/redact transport/internal/*"},
	{pkgs: "transport/llm", ours: "internal/dial internal/regular internal/decode internal/jsonwalk " + basics + " transport/internal/*", libs: "github.com/sashabaranov/go-openai",
		tests: "lastword/actors lastword/actors/call"},
	{pkgs: "internal/probe", ours: "internal/confined internal/regular internal/decode " + basics + " transport/llm"},
	{pkgs: "transport/sqlite", ours: "internal/regular internal/confined internal/atomicfile messages actors/journal",
		libs: "golang.org/x/sys/... modernc.org/sqlite modernc.org/sqlite/lib", tests: "lastword/actors"},
	{pkgs: "transport/nats", ours: "messages actors/journal", libs: "github.com/nats-io/nats.go/... go.uber.org/zap",
		tests: "lastword/actors"},
	{pkgs: "transport/repository/internal/git", ours: "internal/dial internal/regular messages internal/redact internal/words transport/internal/*",
		libs: "github.com/go-git/go-git/v5/... github.com/go-git/go-billy/v5/... github.com/skeema/knownhosts go.uber.org/zap golang.org/x/crypto/ssh/..."},
	{pkgs: "transport/mcp", ours: "messages internal/wrapped transport/mcp/source internal/validate messages/model internal/words transport/door transport/door/* transport/internal/cursor transport/mcp/internal/*",
		libs: "github.com/mark3labs/mcp-go/... go.uber.org/zap/...", tests: "lastword/actors lastword/actors/durable lastword/supervision github.com/santhosh-tekuri/jsonschema/v6"},
	{pkgs: "internal/lmstxt", ours: "messages transport/door transport/door/* transport/mcp",
		tests: "lastword/internal/source lastword/actors lastword/internal/confined lastword/actors/generate lastword/actors/llmstxt/... github.com/mark3labs/mcp-go/..."},
	{pkgs: "transport/mcp/source", ours: "internal/dial messages internal/wrapped internal/confined internal/regular internal/words", libs: "github.com/mark3labs/mcp-go/... go.uber.org/zap/..."},
	{pkgs: "transport/mcp/internal/*",
		ours: "messages internal/jsonwalk internal/words transport/door transport/door/* transport/mcp/internal/* transport/internal/cursor internal/jsonrpc internal/lines internal/server",
		libs: "github.com/mark3labs/mcp-go/... go.uber.org/zap/..."},
	{pkgs: "transport/http", ours: "messages internal/explain internal/jsonwalk transport/door transport/door/* transport/internal/cursor", libs: "github.com/danielgtaylor/huma/v2/...",
		tests: "lastword/actors lastword/internal/server github.com/coder/websocket"},
	{pkgs: "transport/web", tests: "lastword/messages"},
	{pkgs: "internal/telemetry", ours: "messages internal/dial", libs: "github.com/prometheus/client_golang/...", tests: "lastword/actors lastword/supervision"},
	{pkgs: "transport/http/client", ours: "messages transport/internal/cursor internal/dial", tests: "lastword/actors lastword/transport/http lastword/transport/door"},
	{pkgs: "cmd/internal/build"},
	{pkgs: "cmd/internal/guardian", ours: "internal/atomicfile"},
	{pkgs: "cmd/internal/environment"},
	{pkgs: "cmd/internal/terminaltest"},
	{pkgs: "cmd/internal/trust",
		ours: "internal/regular messages internal/atomicfile internal/tool internal/confined cmd/internal/environment cmd/internal/settings"},
	{pkgs: "cmd/internal/terminal",
		ours:  "messages messages/model internal/words transport/door/transcript internal/probe cmd/internal/environment cmd/internal/terminaltest",
		tests: "lastword/actors/generate",
		libs:  "github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term github.com/charmbracelet/x/ansi golang.org/x/sys/unix golang.org/x/sys/windows"},
	{pkgs: "cmd/internal/exit", ours: "internal/regular messages internal/words", libs: "github.com/spf13/cobra"},
	{pkgs: "cmd/internal/settings", ours: "internal/regular internal/jsonwalk " + basics + " transport/llm internal/probe cmd/internal/environment cmd/internal/exit",
		libs: "github.com/knadh/koanf/... github.com/spf13/cobra github.com/spf13/pflag go.yaml.in/yaml/v3"},
	{pkgs: "cmd/internal/repository",
		ours: "internal/regular messages internal/redact internal/confined actors/llmstxt transport/repository cmd/internal/environment cmd/internal/exit cmd/internal/settings",
		libs: "github.com/fsnotify/fsnotify github.com/spf13/pflag"},
	{pkgs: "cmd/internal/store",
		ours: "internal/regular messages internal/redact internal/atomicfile internal/confined internal/conversation actors/journal transport/door/seal transport/sqlite transport/nats cmd/internal/environment cmd/internal/settings cmd/internal/trust",
		libs: "github.com/spf13/cobra github.com/spf13/pflag go.uber.org/zap"},
	{pkgs: "cmd/internal/chatui", ours: "messages internal/jsonwalk internal/validate internal/words transport/door/transcript cmd/internal/terminal",
		libs: "charm.land/bubbletea/v2 github.com/muesli/cancelreader github.com/yuin/goldmark/... golang.org/x/sys/windows"},
	{pkgs: "cmd/internal/doctor",
		ours: "messages internal/words transport/door/auth transport/http/client transport/llm internal/probe cmd/internal/build " +
			"cmd/internal/environment cmd/internal/exit cmd/internal/settings cmd/internal/store cmd/internal/terminal cmd/internal/tokenfile cmd/internal/trust",
		libs: "golang.org/x/sys/unix golang.org/x/sys/windows"},
	{pkgs: "cmd/internal/toolbox",
		ours: "cmd/internal/trust internal/command internal/regular messages messages/model internal/redact internal/chat internal/tool internal/confined internal/dial internal/lines internal/secret transport/mcp/source " +
			"cmd/internal/environment cmd/internal/exit cmd/internal/settings",
		libs: "github.com/mark3labs/mcp-go/mcp github.com/spf13/cobra github.com/spf13/pflag", tests: "lastword/actors"},
	{pkgs: "cmd/internal/host",
		ours: jobs + "internal/lmstxt internal/webhook/send internal/conversation internal/schedule internal/webhook internal/wrapped internal/regular internal/validate " + basics + " supervision/fault internal/confined actors actors/* actors/*/* transport/door transport/door/* " +
			"transport/llm internal/probe transport/http transport/http/client internal/telemetry internal/server transport/mcp " +
			"transport/mcp/* internal/webhook/send transport/nano transport/looopy transport/erlmcp transport/a2a transport/agui transport/aisdk " +
			"transport/openai cmd/internal/*",
		libs: "github.com/spf13/cobra github.com/spf13/pflag go.uber.org/zap/... github.com/orcaman/concurrent-map"},
	{pkgs: "cmd/internal/drawing", ours: "internal/plan"},
	{pkgs: "cmd/internal/tokenfile", ours: "internal/regular internal/words internal/atomicfile transport/door/auth cmd/internal/exit"},
	{pkgs: "cmd/internal/backup", ours: "internal/regular internal/atomicfile messages internal/words"},
	{pkgs: "cmd/internal/checks",
		ours: "internal/regular messages internal/words actors actors/generate actors/llmstxt transport/repository cmd/internal/*",
		libs: "github.com/spf13/cobra"},
	{pkgs: "cmd/internal/editor", ours: "internal/conversation internal/regular " + basics + " actors internal/chat internal/tool internal/confined internal/acp transport/door cmd/internal/*",
		libs: "github.com/spf13/cobra"},
	{pkgs: "cmd/internal/plans", ours: "internal/regular messages internal/words actors internal/plan transport/http/client cmd/internal/*", libs: "github.com/spf13/cobra github.com/spf13/pflag"},
	{pkgs: "cmd/internal/commands",
		ours: "internal/regular messages internal/words supervision/fault actors actors/journal actors/agent actors/wrap internal/command internal/schedule internal/webhook " +
			"transport/door transport/door/auth transport/http transport/http/client internal/server transport/web cmd/internal/*",
		libs: "github.com/spf13/cobra github.com/spf13/pflag"},
	{pkgs: "cmd/lastword", ours: jobs + "internal/issuer internal/server internal/conversation internal/atomicfile internal/confined internal/explain internal/probe internal/regular " + basics + " actors actors/* actors/*/* transport/* transport/*/* cmd/internal/*",
		libs: "github.com/spf13/cobra/... github.com/spf13/pflag go.uber.org/zap",
		tests: "lastword/supervision/fault github.com/coder/acp-go-sdk github.com/mark3labs/mcp-go/... github.com/coder/websocket github.com/rogpeppe/go-internal/... " +
			"github.com/santhosh-tekuri/jsonschema/v6"},
	{pkgs: "testkit/internal/replay", ours: "messages actors actors/call", tests: "lastword/internal/chat lastword/internal/tool lastword/internal/command lastword/internal/plan lastword/messages/model lastword/internal/source lastword/actors/..."},
	{pkgs: "internal/fatal"},
	{pkgs: "internal/faultplan", ours: "messages supervision actors actors/journal"},
	{pkgs: "internal/standin", tests: "github.com/sashabaranov/go-openai"},
	{pkgs: "internal/stories", ours: "messages", libs: "golang.org/x/tools/txtar"},
	{pkgs: "testkit/lab",
		tests: "github.com/asynkron/protoactor-go/actor github.com/mark3labs/mcp-go/... github.com/modelcontextprotocol/go-sdk/... " +
			"github.com/sashabaranov/go-openai github.com/coder/websocket github.com/evanw/esbuild/pkg/api github.com/nats-io/... golang.org/x/tools/go/packages"},
	{pkgs: "testkit/lab/chore", libs: "golang.org/x/mod/semver"},
	{pkgs: "testkit/lab/nats", tests: "github.com/nats-io/..."},
	{pkgs: "testkit/lab/web", tests: "github.com/evanw/esbuild/pkg/api"},
	{pkgs: "testkit/lab/museum", tests: "golang.org/x/tools/txtar"},
	{pkgs: "testkit/lab/world"},
	{pkgs: "testkit", ours: "messages supervision supervision/fault actors actors/journal testkit/internal/replay internal/fatal internal/faultplan internal/standin internal/stories",
		libs: "golang.org/x/tools/txtar go.uber.org/goleak",
		tests: "lastword/messages/model lastword/internal/chat lastword/internal/tool lastword/internal/command lastword/transport/sqlite github.com/sashabaranov/go-openai " +
			"github.com/yuin/goldmark/... golang.org/x/mod/modfile"},
}

// forTests are packages beside testkit that only tests import.
var forTests = []string{"internal/fatal", "internal/faultplan", "internal/standin", "internal/stories"}

// inLab reports whether the package is of the lab, a separate module beside testkit.
func inLab(pkg string) bool { return pkg == lab || strings.HasPrefix(pkg, lab+"/") }

const lab = "testkit/lab"

var testLibraries = []string{"go.uber.org/goleak", "pgregory.net/rapid", "golang.org/x/tools/txtar"}

// source is what the rules judge of one Go file. All files count, whatever their build constraints.
type source struct {
	path, pkg string // relative to the module's root
	test      bool
	main      bool
	doc       string
	imports   []string
	goLines   []int // where go statements stand
	submits   []int // where a method Submit is called
}

func TestImports(t *testing.T) {
	named := map[string]bool{}
	for _, src := range readModule(t) {
		if r := ruleFor(src.pkg); r != nil {
			named[r.pkgs] = true
		}
		for _, breach := range breaches(src) {
			t.Error(breach)
		}
	}
	for _, r := range rules {
		if !named[r.pkgs] {
			t.Errorf("the rule for %s names no package", r.pkgs)
		}
	}
}

// "The embedder chooses by importing: actors alone drags in neither SQLite nor NATS."
func TestActorsNeedNoStore(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/messages", module+"/actors", module+"/testkit").Output()
	must(t, err)
	for pkg := range strings.Lines(string(out)) {
		if strings.HasPrefix(pkg, "modernc.org/") || strings.HasPrefix(pkg, "github.com/nats-io/") || pkg == "database/sql\n" {
			t.Errorf("a program that imports actors or testkit has %s", pkg)
		}
	}
}

// go install …@latest refuses a module whose go.mod replaces another, and who imports lastword builds without the lab.
func TestModuleStandsAlone(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	must(t, err)
	file, err := modfile.Parse("go.mod", text, nil)
	must(t, err)
	for _, r := range file.Replace {
		t.Errorf("go.mod replaces %s", r.Old.Path)
	}
	for _, r := range file.Require {
		if slices.Contains(labLibraries, r.Mod.Path) {
			t.Errorf("go.mod requires %s, which is for the lab", r.Mod.Path)
		}
	}
}

// labLibraries are modules that no other module than the lab may require.
var labLibraries = []string{"github.com/evanw/esbuild", "github.com/modelcontextprotocol/go-sdk", "github.com/nats-io/nats-server/v2"}

// TestPicture holds the picture of the packages in docs/design.md.
func TestPicture(t *testing.T) {
	const file, begin, end = "../docs/design.md", "<!-- packages:begin -->\n", "<!-- packages:end -->"
	page, err := os.ReadFile(file)
	must(t, err)
	before, rest, opened := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for the picture", file)
	}
	want := before + begin + "```\n" + picture(readModule(t)) + "```\n" + end + after
	if *update {
		err = os.WriteFile(file, []byte(want), 0o644)
	}
	if err != nil || !*update && want != string(page) {
		t.Errorf("%s does not show the packages as they are: run make update (%v)", file, err)
	}
}

// TestPacked holds each X.gz to the X beside it.
func TestPacked(t *testing.T) {
	must(t, filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		plain, isPacked := strings.CutSuffix(p, ".gz")
		if err != nil || !isPacked {
			if slices.Contains([]string{".git", "bin", "dist", "testdata"}, d.Name()) {
				return fs.SkipDir
			}
			return err
		}
		if text, err := os.ReadFile(plain); err == nil {
			data, err := os.ReadFile(p)
			if must(t, err); bytes.Equal(packed.Text(string(data)), text) {
				return nil
			}
			if !*update {
				t.Fatalf("%s is not %s: run make update", p, plain)
			}
			must(t, os.WriteFile(p, fatal.Packed(t, text), 0o644))
		}
		return nil
	}))
}

// room is a part of the house: packages that newcomers take for one thing. A room imports only from rooms below.
type room struct {
	name, purpose string
	pkgs          []string // patterns; the first room that has a package keeps it
}

// rooms are the house, from the roof down.
var rooms = []room{
	{"cmd/lastword", "the program: a file for each command", []string{"cmd/lastword"}},
	{"cmd/internal", "what commands share, and where all is put together", []string{"cmd/internal/*"}},
	{"protocols", "they call us: each translates between its clients and the door", []string{"transport/internal/pieces", "transport/internal/rpc", "transport/web", "transport/http",
		"transport/http/client", "transport/mcp", "transport/mcp/*", "internal/lmstxt", "transport/mcp/internal/*", "transport/openai", "transport/openai/internal/*", "internal/acp", "transport/a2a", "transport/agui",
		"transport/aisdk", "transport/nano", "transport/looopy", "transport/looopy/internal/*", "transport/erlmcp"}},
	{"transport/door", "who calls, what they may, start, follow, answer, cancel", []string{"transport/door", "transport/door/*", "internal/jsonrpc", "internal/server", "internal/issuer"}},
	{"tools", "we call them: models, repositories, journals, telemetry", []string{"transport/*", "internal/dial", "internal/lines", "internal/telemetry", "internal/webhook/send", "internal/probe", "transport/internal/*", "transport/repository/internal/*"}},
	{"jobs", "generate, prompt, chat, plan, command, and what they share", []string{"actors/generate", "actors/prompt", "internal/chat",
		"internal/tool", "internal/chat/internal/*", "internal/conversation", "actors/agent", "internal/command", "internal/webhook", "internal/schedule", "internal/plan", "internal/artifact", "actors/call", "internal/structured", "internal/plan/internal/expression"}},
	{"actors/llmstxt", "a library: files in, llms.txt out; it knows no actor", []string{"actors/llmstxt", "actors/llmstxt/internal/*", "actors/llmstxt/internal/*/*"}},
	{"actors", "the runtime: runs, tasks, steps, readers, and what stores must do", []string{"actors", "actors/*", "actors/internal/log", "internal/atomicfile", "internal/confined", "internal/regular", "internal/wrapped"}},
	{"supervision", "what to do when a worker fails", []string{"supervision", "supervision/fault"}},
	{"messages", "what can be said about a run, and what it adds up to", []string{"messages", "messages/*", "internal/decode", "internal/explain", "internal/jsonwalk", "internal/lazyregexp", "internal/packed", "internal/redact", "internal/secret", "internal/source", "internal/stable", "internal/validate", "internal/words"}},
}

func roomOf(pkg string) int {
	return slices.IndexFunc(rooms, func(r room) bool {
		return slices.ContainsFunc(r.pkgs, func(pattern string) bool { return matches(pattern, pkg) })
	})
}

// TestRoomsImportDownwards holds that the house has no more floors than it shows.
func TestRoomsImportDownwards(t *testing.T) {
	for _, src := range readModule(t) {
		if src.test || inLab(src.pkg) || strings.HasPrefix(src.pkg, "testkit") || slices.Contains(forTests, src.pkg) {
			continue
		}
		mine := roomOf(src.pkg)
		if mine < 0 {
			t.Errorf("%s is in no room", src.pkg)
		}
		for _, imp := range src.imports {
			if rel, ours := strings.CutPrefix(imp, module+"/"); ours && roomOf(rel) < mine {
				t.Errorf("%s imports %s, which is above it", src.path, rel)
			}
		}
	}
}

// picture draws the rooms, each with the layers of its packages, their names, and the numbers of the rooms that it
// imports.
func picture(sources []source) string {
	pkgs, below, whole := make([]map[string]bool, len(rooms)), make([]map[int]bool, len(rooms)), make([][]string, len(rooms))
	for _, src := range sources {
		at := roomOf(src.pkg)
		if src.test || at < 0 {
			continue
		}
		if pkgs[at] == nil {
			pkgs[at], below[at] = map[string]bool{}, map[int]bool{}
		}
		whole[at] = append(whole[at], src.pkg)
		name := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(src.pkg, "internal/"), rooms[at].name), "/")
		for _, top := range []string{"transport/", "actors/"} {
			name = strings.TrimPrefix(name, top)
		}
		if top, _, deep := strings.Cut(name, "/"); deep { // a package below another is shown with it
			name = top
		}
		pkgs[at][name] = true
		for _, imp := range src.imports {
			if rel, ours := strings.CutPrefix(imp, module+"/"); ours && roomOf(rel) > at {
				below[at][len(rooms)-roomOf(rel)] = true
			}
		}
	}
	chains := houseOf(sources).chains()
	var out strings.Builder
	fmt.Fprintf(&out, "    %-15s layers\n", "room")
	for i, r := range rooms {
		delete(pkgs[i], "")
		line := fmt.Sprintf("%2d  %-15s %-6s %s", len(rooms)-i, r.name, layers(chains, whole[i]), r.purpose)
		if len(below[i]) > 0 {
			line += " ->"
			for _, n := range slices.Backward(slices.Sorted(maps.Keys(below[i]))) {
				line += fmt.Sprintf(" %d", n)
			}
		}
		out.WriteString(line + "\n")
		line = strings.Repeat(" ", 26)
		for _, pkg := range slices.Sorted(maps.Keys(pkgs[i])) {
			if len(line)+len(pkg) > 105 {
				out.WriteString(line + "\n")
				line = strings.Repeat(" ", 26)
			}
			line += " " + pkg
		}
		if strings.TrimSpace(line) != "" {
			out.WriteString(line + "\n")
		}
	}
	longest := slices.MaxFunc(slices.Sorted(maps.Keys(chains)), func(a, b string) int { return len(chains[a]) - len(chains[b]) })
	fmt.Fprintf(&out, "\n%d packages in %d layers. The longest chain of imports:\n    %s\n", len(chains), len(chains[longest]),
		strings.Join(chains[longest], "\n    "))
	return out.String()
}

// mostFiles is how many Go files a folder may have besides tests.
const mostFiles = 25

var crowded []string

// TestFoldersAreSmall holds that a newcomer can take in each folder.
func TestFoldersAreSmall(t *testing.T) {
	files := map[string]int{}
	for _, src := range readModule(t) {
		if !src.test {
			files[src.pkg]++
		}
	}
	for pkg, n := range files {
		if many := n > mostFiles; many != slices.Contains(crowded, pkg) {
			t.Errorf("%s has %d Go files besides tests; %d are the most, and crowded names the exceptions", pkg, n, mostFiles)
		}
	}
}

func TestPackageDocs(t *testing.T) {
	for _, breach := range undocumented(readModule(t)) {
		t.Error(breach)
	}
}

// TestRulesAreEnforced shows that each promise fails when it is broken.
func TestRulesAreEnforced(t *testing.T) {
	ours := func(pkg string) []string { return []string{module + "/" + pkg} }
	for _, c := range []struct {
		src  source
		want string
	}{
		{source{path: "util/a.go", pkg: "util"}, "no rule names"},
		{source{path: "transport/ftp/a.go", pkg: "transport/ftp"}, "no rule names"},
		{source{path: "messages/a.go", pkg: "messages", imports: []string{"go.uber.org/zap"}}, "may not import"},
		{source{path: "messages/a.go", pkg: "messages", imports: []string{"log/slog"}}, "may not import"},
		{source{path: "messages/a_test.go", pkg: "messages", test: true, imports: []string{"net/http"}}, "may not import"},
		{source{path: "messages/a.go", pkg: "messages", imports: ours("supervision")}, "may not import"},
		{source{path: "supervision/a.go", pkg: "supervision", imports: ours("actors")}, "may not import"},
		{source{path: "supervision/a.go", pkg: "supervision", imports: []string{"go.uber.org/zap"}}, "may not import"},
		{source{path: "supervision/a.go", pkg: "supervision",
			imports: []string{"github.com/asynkron/protoactor-go/router"}}, "may not import"},
		{source{path: "actors/a.go", pkg: "actors", imports: []string{"net/http"}}, "may not import"},
		{source{path: "actors/a.go", pkg: "actors", imports: ours("transport/repository")}, "may not import"},
		{source{path: "actors/a.go", pkg: "actors", imports: ours("actors/generate")}, "may not import"},
		{source{path: "actors/a.go", pkg: "actors", imports: ours("testkit")}, "may not import"},
		{source{path: "actors/llmstxt/a.go", pkg: "actors/llmstxt", imports: ours("actors")}, "may not import"},
		{source{path: "actors/generate/a.go", pkg: "actors/generate",
			imports: []string{"github.com/asynkron/protoactor-go/actor"}}, "may not import"},
		{source{path: "transport/repository/a.go", pkg: "transport/repository", imports: ours("actors")}, "may not import"},
		{source{path: "transport/repository/a_test.go", pkg: "transport/repository", test: true, imports: ours("transport/http")},
			"may not import"},
		{source{path: "cmd/lastword/a.go", pkg: "cmd/lastword", imports: ours("testkit")}, "may not import"},
		{source{path: "cmd/lastword/a.go", pkg: "cmd/lastword", goLines: []int{3}}, "a.go:3: no go statement"},
		{source{path: "supervision/guard.go", pkg: "supervision", goLines: []int{9}}, "guard.go:9: no go statement"},
		{source{path: "transport/nano/a.go", pkg: "transport/nano", submits: []int{7}}, "a.go:7: no Submit here"},
	} {
		got := breaches(c.src)
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%+v: breaches %q, want one with %q", c.src, got, c.want)
		}
	}
	for _, src := range []source{
		{path: "supervision/task.go", pkg: "supervision", goLines: []int{1}},
		{path: "transport/repository/a.go", pkg: "transport/repository", goLines: []int{1}},
		{path: "actors/a_test.go", pkg: "actors", test: true, goLines: []int{1}, imports: ours("testkit")},
		{path: "cmd/lastword/a.go", pkg: "cmd/lastword", imports: ours("transport/repository")},
	} {
		if got := breaches(src); len(got) != 0 {
			t.Errorf("%+v: breaches %q, want none", src, got)
		}
	}
	if got := undocumented([]source{{path: "a/b.go", pkg: "a"}, {path: "c/doc.go", pkg: "c", doc: "About c."}}); len(got) != 2 {
		t.Errorf("undocumented = %q, want two", got)
	}
}

func breaches(src source) []string {
	r := ruleFor(src.pkg)
	if r == nil {
		return []string{fmt.Sprintf("%s: no rule names the package %s", src.path, src.pkg)}
	}
	var out []string
	for _, imp := range src.imports {
		if !r.allows(src, imp) {
			out = append(out, fmt.Sprintf("%s: %s may not import %s", src.path, src.pkg, imp))
		}
	}
	if !mayStartGoroutines(src) {
		for _, line := range src.goLines {
			out = append(out, fmt.Sprintf("%s:%d: no go statement here: use supervision's tasks", src.path, line))
		}
	}
	if !src.test && ofTransport(src.pkg) && src.pkg != "transport/door" {
		for _, line := range src.submits {
			out = append(out, fmt.Sprintf("%s:%d: no Submit here: Start of transport/door fits the input", src.path, line))
		}
	}
	return out
}

func ruleFor(pkg string) *rule {
	for i, r := range rules {
		if matches(r.pkgs, pkg) {
			return &rules[i]
		}
	}
	return nil
}

func (r *rule) allows(src source, imp string) bool {
	tests := strings.Fields(r.tests)
	if rel, ok := strings.CutPrefix(imp, module+"/"); ok {
		mine := slices.ContainsFunc(strings.Fields(everywhere+" "+r.ours), func(p string) bool { return matches(p, rel) })
		return mine || src.test && (rel == src.pkg || rel == "testkit" || rel == "actors/journal" || slices.Contains(forTests, rel) || matches("testkit/*", rel) ||
			inLab(src.pkg) || covers(tests, "lastword/"+rel))
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return !slices.Contains(strings.Fields(r.denied), imp) || src.test && slices.Contains(tests, imp)
	}
	return covers(strings.Fields(r.libs), imp) || src.test && (covers(tests, imp) || covers(testLibraries, imp))
}

// mayStartGoroutines: a panic in a goroutine that supervision did not start is nobody's and ends the process.
func mayStartGoroutines(src source) bool {
	return src.test || strings.HasPrefix(src.path, "testkit/") || slices.Contains(forTests, src.pkg) || src.path == "supervision/task.go" ||
		ofTransport(src.pkg)
}

// ofTransport reports whether the package speaks with other programs, wherever it lies.
func ofTransport(pkg string) bool {
	return strings.HasPrefix(pkg, "transport/") || slices.Contains([]string{"internal/acp", "internal/issuer", "internal/lmstxt", "internal/server"}, pkg)
}

func covers(libs []string, imp string) bool {
	return slices.ContainsFunc(libs, func(lib string) bool {
		tree, whole := strings.CutSuffix(lib, "/...")
		return imp == tree || whole && strings.HasPrefix(imp, tree+"/")
	})
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return ok && err == nil
}

// undocumented lists the packages, other than commands, without a doc.go that opens with "Package name ".
func undocumented(sources []source) []string {
	documented := map[string]bool{}
	for _, src := range sources {
		opens := strings.HasPrefix(src.doc, "Package "+path.Base(src.pkg)+" ")
		documented[src.pkg] = documented[src.pkg] || src.main || path.Base(src.path) == "doc.go" && opens
	}
	var out []string
	for _, pkg := range slices.Sorted(maps.Keys(documented)) {
		if !documented[pkg] {
			out = append(out, pkg+": no doc.go that opens with the package's name")
		}
	}
	return out
}

func readModule(t *testing.T) []source {
	t.Helper()
	sources, err := sourcesOfModule()
	must(t, err)
	return sources
}

// sourcesOfModule parses every Go file of the module and of the lab, their tests included.
var sourcesOfModule = sync.OnceValues(func() (sources []source, err error) {
	root := os.DirFS("..")
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if _, err := fs.Stat(root, path.Join(name, "go.mod")); d.IsDir() && name != "." && name != lab && err == nil {
			return fs.SkipDir // a separate module
		}
		if d.IsDir() || path.Ext(base) != ".go" {
			return nil
		}
		src, err := readSource(root, name)
		sources = append(sources, src)
		return err
	})
	return sources, err
})

func readSource(root fs.FS, name string) (source, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return source{}, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	src := source{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		main: file.Name.Name == "main", doc: file.Doc.Text()}
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		src.imports = append(src.imports, imp)
	}
	for n := range ast.Preorder(file) {
		if stmt, ok := n.(*ast.GoStmt); ok {
			src.goLines = append(src.goLines, fset.Position(stmt.Go).Line)
		}
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Submit" {
			src.submits = append(src.submits, fset.Position(call.Sel.Pos()).Line)
		}
	}
	return src, nil
}
