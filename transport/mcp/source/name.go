package source

import (
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

const mostName = 64 // bytes of a tool's name that every provider takes

// nameOf is mcp__SERVER__TOOL in characters that every provider takes. A name that had to be changed, cut or is taken
// ends in a digest. No name is ever taken apart again.
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
