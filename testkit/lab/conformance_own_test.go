package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/server"
)

// serveFixturesAt serves the fixtures at /mcp of the listener until ctx is done. The door stands behind the gate, as that of
// lastword serve does.
func serveFixturesAt(ctx context.Context, listener net.Listener) error {
	const drain = 100 * time.Millisecond
	system, err := actors.New(ctx, actors.Config{Jobs: fixtureJobs(), Drain: drain})
	if err != nil {
		return err
	}
	// The suite leaves runs that wait for answers; Close ends them and says so.
	defer func() { _ = system.Close(context.WithoutCancel(ctx)) }()
	door := mcp.New(mcp.Config{Runs: system, Name: "fixtures", Version: "1"})
	defer door.Close()
	entrance, err := auth.New(auth.Config{Listen: listener.Addr().String()})
	if err = errors.Join(err, registerFixtures(door)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", entrance.Wrap(door))
	return server.Serve(ctx, listener, mux, server.Limits{Drain: drain})
}

// TestFixtures serves the fixtures as the command does, and finds every tool that the suite calls by name.
func TestFixtures(t *testing.T) {
	want := strings.Fields(`confirm_delete failing_job greet json_schema_2020_12_tool multi_input protocol_error_job
		slow_compute test_audio_content test_custom_header test_elicitation test_elicitation_sep1034_defaults
		test_elicitation_sep1330_enums test_embedded_resource test_error_handling test_image_content
		test_input_required_result_capabilities test_input_required_result_elicitation
		test_input_required_result_list_roots test_input_required_result_multi_round
		test_input_required_result_multiple_inputs test_input_required_result_request_state
		test_input_required_result_sampling test_input_required_result_tampered_state test_logging_tool
		test_missing_capability test_multiple_content_types test_sampling test_simple_text test_streaming_elicitation
		test_tool_with_logging test_tool_with_progress test_tool_with_task test_trigger_prompt_change
		test_trigger_tool_change`)
	var got []string
	for _, tool := range listTools(t) {
		if !strings.HasPrefix(tool, "run_") {
			got = append(got, tool)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("tools\n%v\nnot\n%v", got, want)
	}
}

func listTools(t *testing.T) (names []string) {
	t.Helper()
	var reply struct {
		Result struct{ Tools []struct{ Name string } }
	}
	request := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if err := json.Unmarshal(exchange(t, request), &reply); err != nil {
		t.Fatal(err)
	}
	for _, tool := range reply.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// exchange sends one request over stdio and returns the first line that comes back.
func exchange(t *testing.T, request string) []byte {
	t.Helper()
	system, err := actors.New(t.Context(), actors.Config{Jobs: fixtureJobs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = system.Close(context.Background()) })
	door := mcp.New(mcp.Config{Runs: system, Name: "fixtures", Version: "1"})
	t.Cleanup(door.Close)
	if err := registerFixtures(door); err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- door.Serve(t.Context(), fromClient, toClient) }()
	if _, err := io.WriteString(toServer, strings.ReplaceAll(request, "\n", " ")+"\n"); err != nil {
		t.Fatal(err)
	}
	var line json.RawMessage
	if err := json.NewDecoder(fromServer).Decode(&line); err != nil {
		t.Fatal(err)
	}
	toServer.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return line
}

// What a fixture needs of its client, it takes from what the request itself says of it.
func TestFixturesAskOnlyWhatTheClientOffers(t *testing.T) {
	for _, test := range []struct{ tool, meta, says, not string }{
		{"test_missing_capability", `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`,
			`"requiredCapabilities":{"sampling":{}}`, `"result"`},
		{"test_missing_capability", `"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}`, `"result"`, `"error"`},
		{"test_input_required_result_capabilities", `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`,
			"elicitation/create", "sampling/createMessage"},
		{"test_input_required_result_capabilities", `"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}`,
			"sampling/createMessage", "elicitation/create"},
		{"test_input_required_result_capabilities", `"io.modelcontextprotocol/clientCapabilities":{}`,
			"offers nothing", "inputRequests"},
		{"test_logging_tool", `"io.modelcontextprotocol/clientCapabilities":{}`, `"result"`, "notifications/message"},
		{"test_logging_tool", `"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info"`,
			"notifications/message", `"error"`},
	} {
		line := string(exchange(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+test.tool+
			`","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+test.meta+`}}}`))
		if !strings.Contains(line, test.says) || strings.Contains(line, test.not) {
			t.Errorf("%s with %s: %s", test.tool, test.meta, line)
		}
	}
}

func TestSaidBy(t *testing.T) {
	for want, ended := range map[string]messages.State{
		"Hello.":                 {Status: messages.Completed, End: &messages.End{Result: json.RawMessage(`"Hello."`)}},
		"The job has no result.": {Status: messages.Completed, End: &messages.End{}},
		"The job was canceled.":  {Status: messages.Canceled, End: &messages.End{Cause: messages.CauseCanceledByUser}},
		"too late":               {Status: messages.Failed, End: &messages.End{Error: &messages.Error{Message: "too late"}}},
	} {
		if got := saidBy(ended); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
