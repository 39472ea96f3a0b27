package secret_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/secret"
)

const (
	mixed = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3" // 48 characters
	hexed = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978" // 48 digits
)

// The secrets are put together here so that no scanner takes them for real.
func TestTokensOfServices(t *testing.T) {
	for _, value := range []string{
		"gsk" + "_" + mixed, "xai" + "-" + mixed, "GOCSPX" + "-" + mixed[:28], "shpat" + "_" + hexed[:32], "shpss" + "_" + hexed[:32],
		"dckr_pat" + "_" + mixed[:27], "whsec" + "_" + mixed[:32], "sk_test" + "_" + mixed[:24], "rk_test" + "_" + mixed[:24],
		"hvs" + "." + mixed[:24], "hvb" + "." + mixed[:24], "ya29" + "." + mixed[:20] + "-" + mixed[:20], "ATATT" + "3xFfGF0" + mixed + "=1A2B3C4D",
		"ATBB" + mixed[:32], "lin_api" + "_" + mixed[:40], "r8" + "_" + mixed[:37], "pplx" + "-" + mixed, "nvapi" + "-" + mixed,
		"glptt" + "-" + mixed[:40], "figd" + "_" + mixed[:40], "glsa" + "_" + mixed[:32], "dapi" + hexed[:32], "key" + "-" + hexed[:32],
		"glc" + "_" + mixed, "glcbt" + "-" + mixed[:20], "sq0atp" + "-" + mixed[:22], "sk_prod" + "_" + mixed[:24], "sntryu" + "_" + hexed,
		"NRAK" + "-" + mixed[:27], "dp.pt" + "." + mixed[:43], "pscale_tkn" + "_" + mixed[:40], "xkeysib" + "-" + hexed + "-" + mixed[:16],
		"pcsk" + "_" + mixed, "tvly" + "-" + mixed[:32], "lsv2_pt" + "_" + hexed[:32] + "_" + hexed[:10], "rzp_live" + "_" + mixed[:14],
		"HRKU" + "-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "pat" + "-na1-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "LTAI" + mixed[:20],
		"lw" + "_" + mixed[:43], "SUA" + strings.Repeat("IBDPB234567", 5), "SOA" + strings.Repeat("IBDPB234567", 5),
		"re" + "_" + mixed[:8] + "_" + mixed[:24], "sqp" + "_" + hexed[:40], mixed[:14] + ".atlasv1" + "." + mixed, "xoxc" + "-1234567890-" + mixed,
	} {
		for _, around := range []string{"%", "a %.", "KEY=%", `"\n%"`, "(%)", "https://x.example/?key=%&b=c", "`%`"} {
			before, after, _ := strings.Cut(around, "%")
			checkHidden(t, before+value+after, value)
		}
	}
}

func TestSecretsOfAzure(t *testing.T) {
	long := strings.Repeat(mixed, 2)
	for text, value := range map[string]string{
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + long[:86] + "==;EndpointSuffix=x": long[:86],
		"Endpoint=sb://a.example/;SharedAccessKeyName=n;SharedAccessKey=" + long[:43] + "=":            long[:43],
		"HostName=h;DeviceId=d;SharedAccessKey=" + long[:43] + "=":                                     long[:43],
		"https://a.example/c?sv=2024-01-01&sig=" + mixed[:40] + "%3D&se=x":                             mixed[:40],
		`clientSecret: "aB3` + `8Q~` + mixed[:34] + `"`:                                                mixed[:34],
		"AZURE_CLIENT_SECRET=aB3" + "7Q~" + mixed[:31]:                                                 mixed[:31],
		"AZURE_OPENAI_API_KEY=" + hexed[:32]:                                                           hexed[:32],
		"Ocp-Apim-Subscription-Key: " + hexed[:32]:                                                     hexed[:32],
	} {
		checkHidden(t, text, value)
	}
}

func TestAssignedSecrets(t *testing.T) {
	const basic = "dXNlcjpwYXNzd29yZA=="
	for text, value := range map[string]string{
		"Authorization: Bearer " + mixed: mixed, "authorization: bearer " + mixed: mixed, "Authorization: Basic " + basic: basic,
		"AUTHORIZATION=Bearer " + mixed: mixed, "Proxy-Authorization: Basic " + basic: basic, "Authorization: token " + hexed: hexed,
		`curl -H "Authorization: Bearer ` + mixed[:12] + `" https://a.example`: mixed[:12],
		`{"Authorization": "Bearer ` + mixed + `"}`:                            mixed, `headers["Authorization"] = "Basic ` + basic + `"`: basic,
		`setHeader("Authorization", "Bearer ` + mixed + `")`: mixed, `auth := "Bearer ` + mixed + `"`: mixed,

		"DB_PASSWORD=swordfish": "swordfish", "export DB_PASSWORD='sword fish'": "sword", "MYSQL_ROOT_PASSWORD=s3same!": "s3same!",
		"ENV PGPASSWORD=opensesame": "opensesame", "REDIS_PASS=s3same": "s3same", "DB_PWD=s3same": "s3same", "DB_PASSWD=s3same": "s3same",
		"spring.datasource.password=swordfish\n": "swordfish", "password: s3same!": "s3same!", `"password": "s3same!"`: "s3same!",
		`const password = "s3same99"`: "s3same99", `DB_PASSWORD: "s3same99"`: "s3same99", "host=h user=u password=s3same99 dbname=d": "s3same99",
		"Server=h;User=u;Password=s3same!;Encrypt=true": "s3same!", "SSH_PASSPHRASE=correct-horse-battery": "correct-horse-battery",

		"api_key: " + mixed[:24]: mixed[:24], `apiKey: "` + mixed[:24] + `",`: mixed[:24], "API_KEY=" + hexed[:32]: hexed[:32],
		`"api-key": "` + hexed[:32] + `"`: hexed[:32], "X-Api-Key: " + mixed[:20]: mixed[:20], `client_secret = '` + mixed[:40] + `'`: mixed[:40],
		"ACCESS_TOKEN=" + mixed: mixed, "private_key: " + strings.Repeat(mixed, 40): mixed + mixed, `auth_token => "` + mixed + `"`: mixed, "SECRET_KEY_BASE: " + hexed: hexed,
		"Authorization: " + mixed: mixed, "Authorization: AWS4-HMAC-SHA256 Credential=c, Signature=" + hexed + hexed[:16]: hexed,
		"Cookie: session=" + mixed: mixed, "https://" + mixed[:20] + "@github.com/o/r": mixed[:20], "X-Auth-Key: " + hexed[:37]: hexed[:37],
		"https://discord.com/api/webhooks/1234567890/" + mixed + mixed[:20]: mixed, "bot123456789:AA" + mixed[:33]: mixed[:33],
		"https://a.example/b?X-Amz-Signature=" + hexed + hexed[:16]: hexed, "client-key-data: LS0tLS1CRUdJTiBSU0Eg" + "UFJJ" + mixed: mixed,
		`<add key="ApiKey" value="` + mixed[:30] + `"/>`: mixed[:30], "<password>s3same99!</password>": "s3same99!", "PASSWORD ?= s3same99!": "s3same99!",
		"login --password s3same99!": "s3same99!", "curl -u mia:s3same99! https://a.example": "s3same99!", "Server=h;Pwd=s3same99!;": "s3same99!",
		"master_key=" + hexed[:32]: hexed[:32], "STORAGE_KEY=" + mixed: mixed, "encryption-key: " + mixed: mixed,
		`config["signing_key"] = "` + mixed + `"`: mixed, "NPM_TOKEN: 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
	} {
		checkHidden(t, text, value)
	}
}

// A key that is cut off, or whose lines something else stands around, is no less one.
func TestKeysWithoutTheirEnd(t *testing.T) {
	body := []string{mixed + mixed[:16], hexed + mixed[:16], mixed[:10]}
	for name, text := range map[string]string{
		"plain":    "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Join(body, "\n"),
		"headers":  "-----BEGIN RSA PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E2D3C\n\n" + strings.Join(body, "\n"),
		"PGP":      "-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\nVersion: GnuPG v2\n\n" + strings.Join(body, "\n"),
		"YAML":     "key: |\n  -----BEGIN PRIVATE " + "KEY-----\n  " + strings.Join(body, "\n  ") + "\nnext: 1\n",
		"comments": "# -----BEGIN EC PRIVATE " + "KEY-----\n# " + strings.Join(body, "\n# "),
		"strings":  `"-----BEGIN PRIVATE ` + `KEY-----\n" +` + "\n  \"" + strings.Join(body, "\\n\" +\n  \"") + `"`,
		"JSON":     `"-----BEGIN PRIVATE ` + `KEY-----\n` + strings.Join(body, `\n`) + `"`,
		"list":     `["-----BEGIN PRIVATE ` + `KEY-----", "` + strings.Join(body, `", "`) + `"]`,
		"short":    "-----BEGIN PRIVATE " + "KEY-----\n" + mixed[:12] + "\n" + mixed[12:24] + "\n",
	} {
		for _, line := range append(body[:2:2], mixed[12:24]) {
			if strings.Contains(text, line) {
				if got := secret.Redact(text); strings.Contains(got, line) {
					t.Errorf("%s holds %s:\n%s", name, line, got)
				}
			}
		}
	}
}

// What programs and documents say of secrets stays as it is.
func TestWordsOfSecretsStay(t *testing.T) {
	for _, row := range fatal.Rows(t, "testdata/words.txt") {
		text := row[0]
		if got := secret.Redact(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// Beginnings without an end take minutes where each is followed through the text.
func TestBeginningsOfAssignments(t *testing.T) {
	for _, begin := range []string{"password=", "PASSWORD='", "token:", "token", "secret=secret-", "api_key: a1", "Authorization: Bearer ",
		"uthorization:", "://a1b2c3", "--password ", "-u a:", "ookie:a=", "/api/webhooks/1/", "LS0tLS1CRUdJTiBSU0Eg", "pat", "glc_a1", "sig=", "8Q~", "-----BEGIN PRIVATE " + "KEY-----A: b\n", "earer ", "hvs.", "-----BEGIN PRIVATE " + "KEY-----Abc: "} {
		secret.Redact(strings.Repeat(begin, 40_000/len(begin)))
	}
}

func checkHidden(t *testing.T, text, value string) {
	t.Helper()
	got := secret.Redact(text + "\n")
	if strings.Contains(got, value) || strings.Contains(got, value[:len(value)-1]) {
		t.Errorf("%q becomes %q", text, got)
	}
}

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

// ended is a context that is over, and counts who looks at it.
type ended struct {
	context.Context
	looks int
}

func (e *ended) Err() error {
	e.looks++
	return context.Canceled
}

// A search for secrets ends soon after its context, and shows no secret that it has not looked for.
func TestSearchHeedsItsContext(t *testing.T) {
	for _, word := range []string{"password: ", "sk- ", "Authorization: Bearer ", "http://", "eyJ", "-----BEGIN PRIVATE KEY-----"} {
		f, ctx := secret.NewFinder(), &ended{Context: t.Context()}
		f.Context = ctx
		if text := f.Redact([]byte(strings.Repeat(word, 10_000)+"ghp_0123456789abcdefghijklmnopqrstuvwxyz"), nil); ctx.looks != 1 || bytes.Contains(text, []byte("ghp_")) {
			t.Errorf("%s: %d looks at the context, and %d bytes", word, ctx.looks, len(text))
		}
	}
}
