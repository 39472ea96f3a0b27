package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// tellsCost is reserved for a turn whose cost its agent or its model's door tells: the run needs no price for it.
const tellsCost = 1e-9

// about is what is known of an agent beside the protocol.
type about struct {
	acp     []string // starts it as an agent of ACP
	install string   // installs it
	// headless makes a reader of its JSON lines, and flags start it so; nil if there is none.
	headless reading
	flags    []string
	// ids: its messages have ids, so that a text without one is no part of the answer.
	ids bool
	// repeats: a text that it begins again after a cut has the id of the first one.
	repeats bool
	// ask is the mode in which it asks before it changes something, and askEnv the variable that says so.
	ask, askEnv string
	// auth is the way to log in if one of the variables keys is set.
	auth string
	keys []string
	// remarks are the arguments by which the model describes a call to people, by tool.
	remarks map[string]string
	// costless: it does not tell what it has cost.
	costless bool
	// foreign: it asks models through another API than OpenAI's. door are the variables by which it asks the model at a
	// URL; nil means the variables of OpenAI's library.
	foreign bool
	door    func(url, token, model string) []string
}

// agents are the agents that are known by name.
var agents = map[string]about{
	"claude": {acp: []string{"claude-agent-acp"}, install: "npm install -g @agentclientprotocol/claude-agent-acp",
		headless: claude, flags: []string{"claude", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "-p"},
		ids: true, ask: "default", keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}, remarks: map[string]string{"Bash": "description"}, foreign: true},
	"codex": {acp: []string{"codex-acp"}, install: "npm install -g @agentclientprotocol/codex-acp",
		headless: codex, flags: []string{"codex", "exec", "--json", "--skip-git-repo-check", "--"},
		ids: true, askEnv: "INITIAL_AGENT_MODE=read-only", auth: "api-key", keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, costless: true},
	"gemini": {acp: []string{"gemini", "--acp"}, install: "npm install -g @google/gemini-cli",
		headless: gemini, flags: []string{"gemini", "-o", "stream-json", "-p"}, keys: []string{"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"}, foreign: true, costless: true},
	"opencode": {acp: []string{"opencode", "acp"}, install: "npm install -g opencode-ai",
		headless: opencode, flags: []string{"opencode", "run", "--format", "json", "--"}, ids: true, repeats: true, door: opencodeDoor},
	"copilot": {acp: []string{"copilot", "--acp"}, install: "npm install -g @github/copilot"},
	"qwen":    {acp: []string{"qwen", "--acp"}, install: "npm install -g @qwen-code/qwen-code"},
}

// through turns the variables of a server into the variables by which the agent asks its model.
func (of about) through(model string, inside []string) []string {
	url, token := serverOf(inside)
	if of.door != nil {
		return of.door(url+"/v1", token, model)
	}
	return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=" + token, "OPENAI_MODEL=" + model}
}

// serverOf returns the URL of a server and a token for it, from the variables of [command.Config.Inside].
func serverOf(inside []string) (url, token string) {
	for _, variable := range inside {
		switch name, value, _ := strings.Cut(variable, "="); name {
		case "LASTWORD_SERVER":
			url = value
		case "LASTWORD_TOKEN":
			token = value
		}
	}
	return url, token
}

// opencodeDoor is a provider in OpenCode's settings.
func opencodeDoor(url, token, model string) []string {
	text, _ := json.Marshal(map[string]any{"model": "lastword/" + model, "small_model": "lastword/" + model, "provider": map[string]any{
		"lastword": map[string]any{"npm": "@ai-sdk/openai-compatible", "options": map[string]string{"baseURL": url, "apiKey": token},
			"models": map[string]any{model: map[string]bool{"tool_call": true}}}}}) // of strings
	return []string{"OPENCODE_CONFIG_CONTENT=" + string(text)}
}

// ofProgram returns what is known of an agent by the name that it gives itself, such as @agentclientprotocol/codex-acp.
func ofProgram(name string) about {
	for _, known := range Names(true) {
		if strings.Contains(strings.ToLower(name), known) {
			return agents[known]
		}
	}
	return about{}
}

// Names returns the agents that are known by name. headless means those whose JSON lines can be read.
func Names(headless bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(agents)), func(name string) bool { return headless && agents[name].headless == nil })
}

// Check returns what is wrong with the agents of an operator's file, or nil. Errors: invalid_input.
func Check(all map[string]command.Agent) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, known := agents[name]; !known && len(all[name].Command) == 0 {
			return messages.InvalidInput("agents.%s: there is no such agent%s; name one, or give it a command that speaks ACP", name, words.Meant(name, Names(false)))
		}
	}
	return nil
}

// listed joins names for people.
func listed(names []string) string { return strings.Join(names, ", ") }
