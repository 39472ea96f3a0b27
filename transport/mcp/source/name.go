package source

import (
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

const mostName = 64 // maximum length, in bytes, that all model providers accept

// nameOf returns the name mcp__SERVER__TOOL with characters that all model providers accept. If it had to be changed or
// cut, or if it is taken, it ends with a digest. Names are never parsed.
func nameOf(server, tool string, taken map[string]bool) string {
	exact := "mcp__" + server + "__" + tool
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, exact)
	if name == exact && len(name) <= mostName && !taken[name] {
		return name
	}
	digest := "_" + messages.Digest(server + "\x00" + tool)[:12]
	return name[:min(len(name), mostName-len(digest))] + digest
}
