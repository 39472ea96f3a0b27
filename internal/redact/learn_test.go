package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/redact"
)

const shown = "z1secret0value"

// A value is a secret if its name says so, in whatever style the name is written, and passwords of URLs always are.
func TestLearn(t *testing.T) {
	for _, c := range [][2]string{
		{"DB_PASS", shown}, {"PGPASSWORD", shown}, {"STRIPE_SECRET_KEY", shown}, {"X-Api-Key", shown}, {"tavilyApiKey", shown},
		{"apikey", shown}, {"authToken2", shown}, {"MY_AUTH", shown}, {"SENTRY_DSN", "https://" + shown + "@sentry.example/1"},
		{"SECRET_KEY_BASE", shown}, {"DSN", "me:" + shown + "@tcp(db)/x"}, {"URL", "postgres://me:" + shown + "@db/x"},
		{"servers", "nats://a:4222,nats://" + shown + "@b:4222"}, {"HTTPS_PROXY", "me:" + shown + "@127.0.0.1:9"},
		{"at", "https://x.example/v1?api_key=" + shown}, {"Authorization", "Bearer " + shown}, {"Authorization", "Basic bWU6ejFzZWNyZXQwdmFsdWU="},
		{"GIT_TOKENS", "a.example=q7othertoken, b.example=" + shown}, {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Bearer%20" + shown},
		{"WEBHOOK_SECRETS", "whsec_YWJjZGVmZ2hpag==,whsec_" + shown}, {"APP_PRIVATE_KEY", "-----BEGIN X-----\n" + shown + "\n-----END X-----\n"},
		{"CONN", "host=db password=" + shown + " user=x"}, {"STORE", "AccountName=x;AccountKey=" + shown + ";Suffix=y"},
		{"GIT_CONFIG_VALUE_0", "Authorization: Bearer " + shown}, {"GITHUB_PAT", shown},
	} {
		s := new(redact.Secrets)
		s.Learn(c[0], c[1])
		if got := s.Text("it is " + shown + "!"); strings.Contains(got, shown[4:]) {
			t.Errorf("%s=%s: %s", c[0], c[1], got)
		}
	}
	hook := new(redact.Secrets)
	hook.LearnAddress("https://hooks.example/services/T0/" + shown + "?sig=s1gnature2")
	if got := hook.Text("services at hooks.example: " + shown + ", s1gnature2"); got != "services at hooks.example: [url], [url]" {
		t.Error(got)
	}
}

// Words that others need stay: paths, numbers, plain URLs, and values of other names.
func TestLearnLeavesOthers(t *testing.T) {
	for _, c := range [][2]string{
		{"SSH_AUTH_SOCK", "/run/user/1000/agent.1"}, {"KEY_FILE", "./keys/first1.pem"}, {"TOKEN_TYPE", "disabled"}, {"MONKEY", "bananas99"},
		{"MAX_TOKENS", "1000000000"}, {"AUTH", "https://login.example/realm1"}, {"PATH", "/usr/local/bin:/usr/bin"}, {"NAME", shown},
		{"at", "https://docs.example/v2/page1"}, {"KEY", "short"}, {"PWD", "/home/mia/MyGarden1234567/src"}, {"image", "a:1.2.3-alpine@sha256:0"},
		{"filter", "name=" + shown + ";state=monkeys99"}, {"says", "the key: monkeys99"},
	} {
		s := new(redact.Secrets)
		s.Learn(c[0], c[1])
		if got := s.Text(c[1]); got != c[1] {
			t.Errorf("%s=%s becomes %s", c[0], c[1], got)
		}
	}
	if kind, last := redact.Named("Api-Key-Id"); kind != "key" || last {
		t.Error(kind, last)
	}
}

// Tokens of callers have a shape, so that one that nobody has used yet is known, too, however it arrives.
func TestShape(t *testing.T) {
	s := new(redact.Secrets)
	s.AddShape("token", "lw_", 43)
	token := "lw_" + strings.Repeat("aB3-_", 9)[:43]
	for _, form := range []string{token, strings.ReplaceAll(token, "_", `\_`), strings.ReplaceAll(token, "_", "%5F")} {
		stream, got := s.Stream(), ""
		for piece := range slices.Values(strings.Split("a "+form+".", "")) {
			got += stream.Push(piece)
		}
		if got += stream.Close(); got != "a [token]." {
			t.Errorf("%s: %s", form, got)
		}
	}
	stream, got := s.Stream(), "" // words flow, but what begins one may begin a token
	for piece := range strings.SplitSeq(`Hel|lo al|low l|w no l|ist:\nl|`+token[1:]+"|%20l|"+token[1:]+"| xlw_|"+token[3:], "|") {
		got += stream.Push(piece) + "|"
	}
	if got += stream.Close(); got != `Hel|lo al|low |lw no |list:\n|[token]|%20|[token]| x|[token]|` {
		t.Error(got)
	}
	if got := s.Text("lw_short and " + token[:40]); strings.Contains(got, "[token]") {
		t.Error(got)
	}
}
