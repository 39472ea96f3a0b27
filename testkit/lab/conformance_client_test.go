package lab_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	toolsource "github.com/seed889630bf/lastword/transport/mcp/source"
)

// clientScenarios are those for clients apart from the ones of OAuth, with the arguments of their tools.
var clientScenarios = map[string]string{
	"initialize":                    "{}",
	"tools_call":                    `{"a":5,"b":3}`,
	"sse-retry":                     "{}",
	"request-metadata":              "{}",
	"sep-2322-client-request-state": "{}",
	"http-standard-headers":         "{}",
	"http-custom-headers":           "", // the suite tells them
	"http-invalid-tool-headers":     `{"region":"a"}`,
	"json-schema-ref-no-deref":      "{}",
	elicitationDefaults:             "{}",
	schemaPreserved:                 "{}",
}

const (
	// elicitationDefaults is the scenario whose server asks on the stream of GET, for a form in which nothing is filled.
	elicitationDefaults = "elicitation-sep1034-client-defaults"
	// schemaPreserved is the scenario whose client sends back the schema of the tool schemaTool.
	schemaPreserved, schemaTool = "json-schema-2020-12-preservation", "mcp__t__json_schema_2020_12_tool"
	// clientScenario is the variable by which the suite tells its client the scenario.
	clientScenario = "MCP_CONFORMANCE_SCENARIO"
)

// runClients has the suite serve its scenarios to the client of the package source, which this test's binary runs. No
// revision scores the scenarios of the first OAuth.
func runClients(t *testing.T, suite string) {
	names := slices.Collect(maps.Keys(clientScenarios))
	names = append(names, "auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		scored, _ := requirements(t, suite, revision, "client")
		names = append(names, scored...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			cmd := exec.CommandContext(t.Context(), nodeOf(suite), inSuite(suite, "dist", "index.js"), "client", "--scenario", name, "-o", out,
				"--command", os.Args[0]+" -test.run=^TestConformanceClient$")
			said, _ := cmd.CombinedOutput() // the checks tell
			files, _ := filepath.Glob(filepath.Join(out, "*", "checks.json"))
			if below, _ := filepath.Glob(filepath.Join(out, "*", "*", "checks.json")); len(files) == 0 {
				files = below
			}
			if len(files) != 1 {
				t.Fatalf("the suite found nothing: %s", said)
			}
			s := scenario{name: name}
			must(t, json.Unmarshal(readFile(t, files[0]), &s.checks))
			s.judge(t, true)
		})
	}
}

// TestConformanceClient is the client of one scenario. The suite gives the address of its server as the last argument.
func TestConformanceClient(t *testing.T) {
	name := os.Getenv(clientScenario)
	if name == "" {
		t.Skip("the suite runs this")
	}
	var told struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &told) // most scenarios tell nothing
	arguments := map[string]string{}
	for _, call := range told.ToolCalls {
		arguments["mcp__t__"+call.Name] = string(call.Arguments)
	}
	s := toolsource.Server{Name: "t", URL: flag.Arg(flag.NArg() - 1), StartTimeout: time.Minute, Trust: true, Login: filepath.Join(t.TempDir(), "login")}
	use := func() error {
		src := toolsource.New([]toolsource.Server{s}, "1", nil)
		defer src.Close()
		list, err := src.Tools(t.Context())
		for _, tool := range list {
			if name == schemaPreserved && tool.Name == schemaTool {
				arguments["mcp__t__json_schema_echo"] = `{"schema":` + string(tool.Parameters) + `}`
			}
		}
		for _, tool := range list {
			answer, failed := tool.Call(t.Context(), toolsource.Call{ID: "c", Run: "r",
				Arguments: json.RawMessage(cmp.Or(arguments[tool.Name], clientScenarios[name], "{}")),
				Ask: func(context.Context, messages.InputRequired) (json.RawMessage, error) {
					if name == elicitationDefaults {
						return json.RawMessage("{}"), nil
					}
					return json.RawMessage("true"), nil
				}})
			err = cmp.Or(err, failed)
			t.Log(answer, failed)
		}
		return err
	}
	if !strings.HasPrefix(name, "auth/") {
		_ = use() // the suite judges
		return
	}
	// A person does what an error says, once. The browser follows the redirects.
	login := toolsource.Client{ID: told.ID, Secret: told.Secret}
	for range 2 {
		must(t, toolsource.LogIn(t.Context(), s, login, func(page string) {
			if r, err := http.Get(page); err == nil {
				r.Body.Close()
			}
		}))
		err := use()
		if err == nil {
			return
		}
		_, again, asks := strings.Cut(err.Error(), "run lastword mcp login t")
		if !asks {
			t.Fatal(err)
		}
		if scopes, more := strings.CutPrefix(again, " --scope "); more {
			login.Scopes = strings.Split(scopes, ",")
		}
	}
}
