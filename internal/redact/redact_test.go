package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
)

const token = "t0ken/of+the=gardener<&>"

func knowing(values ...string) *redact.Secrets {
	s := new(redact.Secrets)
	s.Add("token", values...)
	return s
}

// forms are how a stranger may repeat a secret.
func forms(t *testing.T, secret string) map[string]string {
	quoted, err := json.Marshal(secret)
	fatal.IfError(t, err)
	twice, err := json.Marshal(string(quoted))
	fatal.IfError(t, err)
	all := map[string]string{
		"plain": secret, "JSON": string(quoted), "JSON in JSON": string(twice), "HTML": html.EscapeString(secret),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "twice": url.QueryEscape(url.QueryEscape(secret)),
		"slashes": strings.ReplaceAll(secret, "/", `\/`), "cut": secret[:len(secret)-1] + "*",
	}
	var u, x, percent, entities strings.Builder
	for _, c := range []byte(secret) {
		const digits = "0123456789aBcDeF"
		u.WriteString(`\u00` + string(digits[c>>4]) + string(digits[c&15]))
		x.WriteString(`\x` + string(digits[c>>4]) + string(digits[c&15]))
		percent.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
		entities.WriteString("&#x" + string(digits[c>>4]) + string(digits[c&15]) + ";")
	}
	all["all of it as JSON"], all["all of it as a URL"], all["all of it as HTML"] = u.String(), percent.String(), entities.String()
	all["all of it as a string of C"] = x.String()
	for _, user := range []string{"", ":", "me:", "x-access-token:", "oauth2:"} {
		for name, to := range map[string]*base64.Encoding{
			"std": base64.StdEncoding, "url": base64.URLEncoding, "raw": base64.RawURLEncoding,
		} {
			all["base64 "+name+" "+user] = to.EncodeToString([]byte(user + secret + "\n"))
		}
	}
	return all
}

func TestForms(t *testing.T) {
	for _, secret := range []string{token, "ghp_0123456789abcdefghij", `quo"te\d:secret`, "swordfish", "correct horse/battery+9"} {
		for name, form := range forms(t, secret) {
			got := knowing("another-secret", secret).Text("before " + form + " after")
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, "[token]") {
				t.Errorf("%s of %s: %s", name, secret, got)
			}
			for i := 0; i+8 <= len(form); i++ {
				if part := form[i : i+8]; strings.Contains(got, part) && !strings.HasPrefix(name, "base64") {
					t.Errorf("%s of %s: %s holds %s", name, secret, got, part)
				}
			}
			if left := strings.Replace(got, "[token]", "", 1); len(left) > len("before * after")+len(form)-len(secret) {
				t.Errorf("%s of %s: %s holds more than what is around it", name, secret, got)
			}
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	const text = `x of "none" lm-studio \u0041 &amp; 100% of the t0ken/o or token\n & so on%2`
	for _, s := range []*redact.Secrets{nil, new(redact.Secrets), knowing(token, "x", "none", "amp", "", "  ", "ollama", "lm-studio")} {
		if got := s.Text(text); got != text {
			t.Errorf("got %q", got)
		}
		if got := s.Bytes([]byte(text)); string(got) != text {
			t.Errorf("got %q", got)
		}
	}
	if got := knowing(" hunter2\n").Text("it is hunter2"); got != "it is [token]" {
		t.Errorf("a short one with a digit: %q", got)
	}
}

func TestErrors(t *testing.T) {
	s := knowing(token)
	plain := errors.New("nothing")
	if s.Error(nil) != nil || s.Error(plain) != plain {
		t.Error("an error without a secret is another")
	}
	err := s.Error(&messages.Error{Code: "transport_closed", Message: "no " + token, Retryable: true})
	if known, ok := errors.AsType[*messages.Error](err); !ok || known.Code != "transport_closed" || !known.Retryable ||
		err.Error() != "no [token]" {
		t.Errorf("%#v", err)
	}
}

// In a stream no more is held back than what may begin a secret.
func TestStreamHoldsBackTheBeginningOfASecret(t *testing.T) {
	s := knowing(token).Stream()
	for _, step := range []struct{ piece, want string }{
		{"hello t0", "hello "}, {"morrow", "t0morrow"}, {"t", ""}, {token[1:5], ""}, {token[5:], "[token]"}, {" so", " so"},
		{`\`, ""}, {"n", `\n`}, {`\u0`, ""}, {`074`, ""}, {token[1:], "[token]"}, {"5 % or", "5 % or"}, {"a & b", "a & b"},
		{token[:7], ""}, {"!", token[:7] + "!"}, {token[:12], ""},
	} {
		if got := s.Push(step.piece); got != step.want {
			t.Errorf("%q gives %q, want %q", step.piece, got, step.want)
		}
	}
	if got := s.Close(); got != "[token]" {
		t.Errorf("the end gives %q", got)
	}
}

// However a text is cut, it comes out the same, without the secrets.
func TestStreamIsEqualUnderAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := []string{token, "aaaaaaaab", "aaaaaaaabaaaac", "ünicode-secret"}
		s := knowing(secrets...)
		piece := rapid.OneOf(rapid.StringN(0, 4, 8), rapid.SampledFrom([]string{token, token[:9], token[3:], "aaaa", "aaab",
			"aaaac", `\`, `\u00`, `\x`, `\x7`, "%", "%25", "74", "&", "&lt;", "&#", base64.StdEncoding.EncodeToString([]byte("u:" + token)),
			"ünicode-sec\xc3", "ünicode-secret", url.QueryEscape(token), `\\\\\\\\`}))
		pieces := rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces")
		whole := strings.Join(pieces, "")
		stream, got := s.Stream(), ""
		for _, p := range pieces {
			got += stream.Push(p)
		}
		got += stream.Close()
		if want := s.Text(whole); got != want {
			t.Fatalf("%q: got %q, want %q", whole, got, want)
		}
		for _, secret := range secrets {
			if strings.Contains(got, secret) {
				t.Fatalf("%q holds %q", got, secret)
			}
		}
	})
}

func TestWriter(t *testing.T) {
	var out strings.Builder
	w := knowing(token).Writer(&out)
	for _, piece := range []string{"a ", token[:6], token[6:], " b ", token[:4]} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if err := w.Close(); err != nil || out.String() != "a [token] b "+token[:4] {
		t.Errorf("%v: %q", err, out.String())
	}
	if w.Unwrap() != &out {
		t.Error("it goes elsewhere")
	}
}

// What looks like a secret over and over costs no more than its length times the secret's.
func TestHostileTextIsLinear(t *testing.T) {
	s := knowing(strings.Repeat("a", 63)+"b", token)
	for _, part := range []string{"a", `\`, "%25", "&", "&#x", `\u006`, `\x6`, "%", `\u0061`} {
		text := strings.Repeat(part, (1<<20)/len(part))
		if len(s.Text(text)) == 0 {
			t.Error(part)
		}
	}
}
