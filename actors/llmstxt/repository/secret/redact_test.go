package secret_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
)

// The secrets are put together here so that no scanner takes them for real.
func TestSecretsAreRedacted(t *testing.T) {
	const forty = "abcdefghijABCDEFGHIJ0123456789+/abcdEFGH"
	word := strings.NewReplacer("+", "x", "/", "y").Replace(forty)
	block := "-----BEGIN RSA PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + forty + "\n-----END RSA PRIVATE " + "KEY-----"
	tests := map[string]string{
		block: "[redacted]",
		"-----BEGIN PRIVATE " + "KEY-----\n" + forty + "\n" + forty: "[redacted]",
		`"-----BEGIN PRIVATE ` + `KEY-----\n` + word + `\n"`:        `"[redacted]\n"`,
		"id = AK" + "IAABCDEFGHIJKLMNOP":                            "id = [redacted]",
		"aws_secret_access_key = " + forty:                          "aws_secret_access_key = [redacted]",
		`"SecretAccessKey": "` + forty + `"`:                        `"SecretAccessKey": "[redacted]"`,
		"gh" + "p_" + word:                                          "[redacted]",
		"gh" + "s_" + word + ".":                                    "[redacted].",
		"github" + "_pat_" + word:                                   "[redacted]",
		"gl" + "pat-" + word:                                        "[redacted]",
		"xox" + "b-1234567890-" + word:                              "[redacted]",
		"https://hooks.slack.com/" + "services/T0/B0/" + word:       "https://[redacted]",
		"key: sk" + "-proj-" + word:                                 "key: [redacted]",
		"a sk" + "-" + word + " b sk" + "-ant-" + word + " c":       "a [redacted] b [redacted] c",
		"AI" + "za" + word[:35]:                                     "[redacted]",
		"npm" + "_" + word[:36]:                                     "[redacted]",

		"at postgres://admin:" + "s3cr3t!pw@db/prod":                                "at postgres://admin:[redacted]@db/prod",
		"redis://:" + word + "@host:6379":                                           "redis://:[redacted]@host:6379",
		"Bearer ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + word + " ok": "Bearer [redacted] ok",
		"SG" + "." + word[:22] + "." + word + word[:3]:                              "[redacted]",

		"postgres://user:password@db":                      "postgres://user:password@db",
		"postgres://user:$PASSWORD@db":                     "postgres://user:$PASSWORD@db",
		"http://host:80/a@b ssh://git@host:22/":            "http://host:80/a@b ssh://git@host:22/",
		"the task-force-of-the-whole-world-and-more":       "the task-force-of-the-whole-world-and-more",
		"AKIA is a prefix":                                 "AKIA is a prefix",
		"write -----BEGIN PRIVATE " + "KEY----- before it": "write -----BEGIN PRIVATE " + "KEY----- before it",
		"sk-short": "sk-short",
	}
	for text, want := range tests {
		if got := secret.Redact(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}

// Beginnings of secrets without an end take minutes where each is followed through the text.
func TestBeginningsOfSecrets(t *testing.T) {
	for _, begin := range []string{
		"-----BEGIN PRIVATE " + "KEY-----AAAA ", "-----BEGIN ", "://a:", "-ey" + "Jaaaaaaaa.", "SG.", "gh" + "p_",
	} {
		text := strings.Repeat(begin, 200_000/len(begin))
		if got := secret.Redact(text); strings.Contains(got, "[redacted]") {
			t.Errorf("%q is redacted", begin)
		}
	}
}
