package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A secret lies in each place where a user can name one, and a run repeats them all. None is in what the server says: events,
// errors, log and webhooks; and none is in a bundle, which knows the settings' secrets too.
func TestPlantedSecretsAreNowhere(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ours := map[string]string{ // what the server reads
		"mine": tokenFor(t, dir, "mia", "--scope", "run:read,run:write,admin"), "unused": tokenFor(t, dir, "ben"),
		"api": "pl4nted-api-key", "git": "pl4nted-git-token", "proxy": "pl4nted-proxy-pass", "traces": "pl4nted-traces-hdr", "dsn": "pl4nted0dsn0user",
		"copied": "pl4nted-db-password", "deploy": "pl4nted-deploy-key", "argument": "pl4nted-argument", "env": "pl4nted-of-mcp",
		"header": "pl4nted-mcp-header", "query": "pl4nted-mcp-query", "hook": "pl4nted5hook5path", "signing": "whsec_cGw0bnRlZC1zaWduaW5nLXNlY3JldC0xMjM0",
		"callbacks": "whsec_cGw0bnRlZC1jYWxsYmFjay1zZWNyZXQtMTIz", "option": "pl4nted-option"}
	named := map[string]string{ // what settings name for others
		"key": "pl4nted-key-file", "seed": "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4", "nats": "pl4nted-nats-pass", "base": "pl4nted-base-url",
		"gitfile": "pl4nted-git-file"}
	got := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // an end that was cut has no secrets either
		got <- string(body)
	}))
	defer receiver.Close()
	write(t, at("jobs.yaml"), "jobs:\n  leak: {description: Repeat., command: [sh, -c, 'cat all; cat all >&2', --password, "+ours["argument"]+"], env: [PATH, DB_PASS, DEPLOY_KEY="+ours["deploy"]+"]}\n")
	write(t, at("hooks.yaml"), "webhooks:\n  - {name: w, url: '"+receiver.URL+"/hook/"+ours["hook"]+"', secret: "+ours["signing"]+", allow_private: true}\n")
	write(t, at("mcp.json"), `{"mcpServers": {"a": {"command": "cat", "args": ["--api-key=`+ours["option"]+`"], "env": {"K": "`+ours["env"]+`"}},
		"b": {"url": "http://127.0.0.1:9/?k=`+ours["query"]+`", "headers": {"Authorization": "Bearer ${HEADER}"}}}}`)
	write(t, at("kf"), named["key"]+"\n")
	write(t, at("creds"), "-----BEGIN USER NKEY SEED-----\n"+named["seed"]+"\n------END USER NKEY SEED------\n")
	write(t, at("gittokens"), "git.example="+named["gitfile"]+"\n")
	write(t, at("token"), ours["mine"])
	write(t, at("config.yaml"), "serve: {jobs: "+at("jobs.yaml")+", webhooks: "+at("hooks.yaml")+", mcp-config: "+at("mcp.json")+", nats: 'nats://u:"+named["nats"]+
		"@127.0.0.1:4222', nats-creds: "+at("creds")+", key-file: "+at("kf")+", base-url: 'http://u:"+named["base"]+"@127.0.0.1:1/v1'}\n")
	env := []string{"LASTWORD_API_KEY=" + ours["api"], "LASTWORD_GIT_TOKENS=git.example=" + ours["git"], "HTTPS_PROXY=http://u:" + ours["proxy"] + "@127.0.0.1:9",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=Bearer%20" + ours["traces"], "SENTRY_DSN=https://" + ours["dsn"] + "@sentry.example/1",
		"DB_PASS=" + ours["copied"], "LASTWORD_WEBHOOK_SECRETS=" + ours["callbacks"], "HEADER=" + ours["header"]}
	all := slices.Concat(slices.Collect(maps.Values(ours)), slices.Collect(maps.Values(named)))
	write(t, at("all"), strings.Join(slices.Collect(maps.Values(ours)), " is one\n"))
	write(t, at("log.txt"), strings.Join(all, " is one\n")+"\n")
	command := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--tokens", "tokens", "--state", "kept", "--jobs", "jobs.yaml", "--webhooks", "hooks.yaml",
		"--mcp-config", "mcp.json", "--verbose")
	command.Env = append(command.Env, env...)
	s := serving(t, command)
	client, err := api.New(s.base(), ours["mine"])
	must(t, err)
	id, err := client.Submit(t.Context(), messages.Request{Job: "leak", Input: []byte("{}")})
	must(t, err)
	said := map[string]string{}
	for e, err := range client.Follow(t.Context(), id, messages.FollowOptions{}) {
		must(t, err)
		text, err := json.Marshal(e)
		must(t, err)
		said["events"] += string(text)
	}
	if !strings.Contains(said["events"], "is one") {
		t.Fatalf("the run repeats nothing: %s", said["events"])
	}
	said["webhook"] = <-got
	_, err = client.Submit(t.Context(), messages.Request{Job: ours["deploy"], Input: []byte(`{"` + ours["unused"] + `": 1}`)})
	said["error"] = err.Error()
	bundled := run(t, append(env, "LASTWORD_GIT_TOKENS_FILE="+at("gittokens")), "bundle", at("b.tgz"), "--config", at("config.yaml"), "--server", s.base(),
		"--token-file", at("token"), "--run", string(id), "--log", at("log.txt"))
	if bundled.code != exit.Completed {
		t.Fatalf("%+v", bundled)
	}
	maps.Copy(said, unpacked(t, at("b.tgz")))
	s.ends(syscall.SIGTERM)
	said["stderr of the server"] = s.said + <-s.stderr
	for where, text := range said {
		for _, secret := range all {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", where, secret)
			}
		}
	}
}

// Each flag and variable that names a file, or whose name is one of a secret, has decided what is secret in it.
func TestFlagsDecideAboutSecrets(t *testing.T) {
	decided := func(name string) {
		if _, known := settings.Holds[name]; !known {
			t.Errorf("%s: say in settings.Holds what secrets its file has", name)
		}
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				kind, _ := redact.Named(f.Name)
				if what, _ := pflag.UnquoteUsage(f); what == "file" || kind != "" && strings.HasPrefix(f.Value.Type(), "string") {
					decided(f.Name)
				}
			})
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(&host.Program{}))
	for _, v := range settings.Variables() {
		if strings.Contains(v.Meaning, "file") {
			decided(v.Name)
		} else if kind, last := redact.Named(v.Name); v.Secret && (kind == "" || !last) {
			t.Errorf("%s: nobody learns its value by its name", v.Name)
		}
	}
}
