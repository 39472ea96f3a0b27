package llm

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// longKey is the length from which a key can be no part of a word.
const longKey = 16

// without takes the key out of a text: some servers repeat what they were sent. A short one goes where it stands alone.
// Servers that need no key are given ones like "x", for which no other word is to lose its letters.
func (c *Client) without(text string) string {
	if c.key == "" || !strings.Contains(text, c.key) {
		return text
	}
	if len(c.key) >= longKey {
		return strings.ReplaceAll(text, c.key, "[key]")
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
			b.WriteString("[key]")
		}
		last, text = c.key[len(c.key)-1], after
	}
}

func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// failureIn is what a payload says of a failure. The key is taken out first: what is cut may be cut inside it.
func (c *Client) failureIn(payload []byte) *model.Failure {
	return failureIn([]byte(c.without(string(payload))))
}

// quiet is the error without the key, or the context's cause.
func (c *Client) quiet(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err == nil || c.without(err.Error()) == err.Error() {
		return err
	}
	return unreachable("%s", c.without(err.Error()))
}
