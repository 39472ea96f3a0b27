package python

import (
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// assignment takes constants, type aliases and __all__ of a module, and fields of a class.
func (p *pyModule) assignment(line pyLine) {
	if strings.HasPrefix(line.text, "__all__") {
		p.exports(line.text[len("__all__"):])
		return
	}
	if rest, ok := surface.AfterKeyword(line.text, "type"); ok && surface.Identifier(rest) != "" {
		if p.Block().class == "" {
			p.add(pySymbol{Symbol: p.declared(line, surface.Identifier(rest), surface.Type)})
		}
		return
	}
	name := surface.Identifier(line.text)
	rest := strings.TrimLeft(line.text[len(name):], " \t")
	if name == "" || rest == "" {
		return
	}
	annotation, value := "", ""
	switch {
	case rest[0] == ':':
		annotation = strings.TrimSpace(rest[1:])
	case rest[0] == '=' && !strings.HasPrefix(rest, "=="):
		value = strings.TrimSpace(rest[1:])
	default:
		return
	}
	if p.Block().class != "" {
		p.field(line, name, annotation, value)
		return
	}
	kind, strong := pyKind(name, annotation, value)
	s := p.declared(line, name, kind)
	if strings.HasSuffix(value, "."+name) {
		s.Doc = "" // a comment about the import of what another module documents
	}
	p.add(pySymbol{Symbol: s, weak: !strong})
}

func (p *pyModule) declared(line pyLine, name string, kind surface.Kind) surface.Symbol {
	signature := surface.Joined(pyCode(line.text))
	return surface.Symbol{Name: name, Kind: kind, Line: line.number, Doc: p.remarked(),
		Signature: prose.Shorten(signature, 100)}
}

// remarked is the comment above, if it is written for readers or is a sentence.
func (p *pyModule) remarked() string {
	if text, ok := strings.CutPrefix(p.comment, ":"); ok {
		return surface.Summary(strings.ReplaceAll(text, "\n: ", "\n"))
	}
	if first := surface.FirstParagraph(p.comment); prose.Is(first) {
		return surface.Summary(p.comment)
	}
	return ""
}

// field keeps what a class without __init__ is made of: annotated fields, and the members of enumerations.
func (p *pyModule) field(line pyLine, name, annotation, value string) {
	scope := p.Block()
	if name[0] == '_' || scope.symbol < 0 {
		return
	}
	if strings.HasPrefix(value, "property(") {
		p.add(pySymbol{Symbol: p.declared(line, scope.class+name, surface.Variable)})
		return
	}
	c := &p.symbols[scope.symbol]
	if len(c.fields) < 30 && (annotation != "" || surface.IsConstantName(name)) {
		c.fields = append(c.fields, prose.Shorten(surface.Joined(pyCode(line.text)), 60))
	}
}

// pyKind tells what a module's variable is, and whether it is public without being named in __all__.
func pyKind(name, annotation, value string) (kind surface.Kind, strong bool) {
	if _, rest, ok := strings.Cut(annotation, "="); ok {
		value = strings.TrimSpace(rest)
	}
	if typeMaker.MatchString(value) || strings.Contains(annotation, "TypeAlias") {
		return surface.Type, true
	}
	if surface.IsConstantName(name) {
		return surface.Constant, annotation != "" || isPyLiteral(value)
	}
	return pyConvention(name), annotation != "" && value == ""
}

// pyConvention tells what a name is by how it is written.
func pyConvention(name string) surface.Kind {
	bare := strings.TrimLeft(name, "_")
	switch {
	case surface.IsConstantName(name):
		return surface.Constant
	case bare != "" && 'A' <= bare[0] && bare[0] <= 'Z':
		return surface.Type
	}
	return surface.Variable
}

// typeMaker finds calls that make a type, and types that are composed.
var typeMaker = regexp.MustCompile(`^(?:\w+\.)*(?:(?:NewType|namedtuple|NamedTuple|TypedDict|Enum|IntEnum)\(|` +
	`(?:Union|Optional|Callable|Literal|Annotated)\[)`)

// pyLiteral finds how values begin that are written out.
var pyLiteral = regexp.MustCompile(`^(?:[-0-9\[{(]|(?i:[rbuft]{0,2})["']|(?:frozenset|set|dict|tuple|list)\s*\()`)

// isPyLiteral tells values that are written out, or another name, from those that are computed.
func isPyLiteral(value string) bool {
	return pyLiteral.MatchString(value) || !strings.Contains(value, "(") && surface.Identifier(value) != ""
}
