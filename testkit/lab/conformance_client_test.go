package lab_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	toolsource "github.com/seed889630bf/lastword/transport/mcp/source"
)

// clientScenarios are those for clients apart from the ones of OAuth, which need a browser, with the arguments of their tools.
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
}

// elicitationDefaults is the scenario whose server asks on the stream of GET, for a form of which nothing is filled in.
const elicitationDefaults = "elicitation-sep1034-client-defaults"

// clientScenario is the variable by which the suite tells its client the scenario.
const clientScenario = "MCP_CONFORMANCE_SCENARIO"

// runClients has the suite serve its scenarios to the client of the package source, which this test's binary runs.
func runClients(t *testing.T, suite string) {
	for name := range clientScenarios {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			cmd := exec.CommandContext(t.Context(), nodeOf(suite), inSuite(suite, "dist", "index.js"), "client", "--scenario", name, "-o", out,
				"--command", os.Args[0]+" -test.run=^TestConformanceClient$")
			said, _ := cmd.CombinedOutput() // the checks tell
			files, _ := filepath.Glob(filepath.Join(out, "*", "checks.json"))
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
	settings, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"t": map[string]any{"url": flag.Arg(flag.NArg() - 1), "trust": true}}})
	servers, err := toolsource.Parse(settings, os.LookupEnv)
	must(t, err)
	src := toolsource.New(servers, "1", nil)
	defer src.Close()
	list, err := src.Tools(t.Context())
	must(t, err)
	for _, tool := range list {
		arguments := clientScenarios[name]
		var told struct {
			ToolCalls []struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &told) // most scenarios tell nothing
		for _, call := range told.ToolCalls {
			if tool.Name == "mcp__t__"+call.Name {
				arguments = string(call.Arguments)
			}
		}
		answer, err := tool.Call(t.Context(), toolsource.Call{ID: "c", Run: "r", Arguments: json.RawMessage(arguments),
			Ask: func(context.Context, messages.InputRequired) (json.RawMessage, error) {
				if name == elicitationDefaults {
					return json.RawMessage("{}"), nil
				}
				return json.RawMessage("true"), nil
			}})
		t.Log(answer, err)
	}
}
