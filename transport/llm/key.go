package llm

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/redact"
)

// keyMark stands where the key was.
const keyMark = "key"

// secretsOf are those of the Config, with the key.
func secretsOf(config Config, key string) *redact.Secrets {
	s := config.Secrets
	if s == nil {
		s = new(redact.Secrets)
	}
	s.Add(keyMark, key)
	return s
}

// without takes the secrets out of what a server says of itself and of failures. A key that is too short for a secret
// goes where it stands alone: no other word is to lose its letters.
func (c *Client) without(text string) string {
	text = c.secrets.Text(text)
	if c.key == "" || !strings.Contains(text, c.key) {
		return text
	}
	var b strings.Builder
	for last := byte(0); ; {
		before, after, found := strings.Cut(text, c.key)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if before != "" {
			last = before[len(before)-1]
		}
		if inWord(last) || after != "" && inWord(after[0]) {
			b.WriteString(c.key)
		} else {
			b.WriteString("[" + keyMark + "]")
		}
		last, text = c.key[len(c.key)-1], after
	}
}

func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// failureIn is what a payload says of a failure. The secrets are taken out first: what is cut may be cut inside one.
func (c *Client) failureIn(payload []byte) *model.Failure {
	return failureIn([]byte(c.without(string(payload))))
}

// quiet is the error without the secrets, or the context's cause.
func (c *Client) quiet(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err == nil || c.without(err.Error()) == err.Error() {
		return err
	}
	return unreachable("%s", c.without(err.Error()))
}
