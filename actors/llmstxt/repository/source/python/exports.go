package python

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// exports heeds a statement about __all__, as far as it names names.
func (p *pyModule) exports(rest string) {
	rest = strings.TrimLeft(pyCode(rest), " \t")
	if p.Block().class != "" || strings.Contains(rest, " for ") {
		return
	}
	removes := strings.HasPrefix(rest, ".remove")
	for _, name := range pyStrings(rest) {
		if surface.Identifier(name) != name || name == "" {
			continue
		}
		if p.all == nil {
			p.all = map[string]bool{}
		}
		p.all[name] = !removes
	}
}

// imported keeps the names of an import: a package hands on what its modules have.
func (p *pyModule) imported(line pyLine) {
	code := strings.NewReplacer("(", " ", ")", " ", "\n", " ").Replace(pyCode(line.text))
	from, names, ok := strings.Cut(code, " import ")
	if !ok {
		from, names = "", strings.TrimPrefix(code, "import ")
	}
	from = strings.TrimSpace(strings.TrimPrefix(from, "from"))
	for item := range strings.SplitSeq(names, ",") {
		words := strings.Fields(item)
		if len(words) != 1 && len(words) != 3 {
			continue
		}
		name := words[len(words)-1]
		if surface.Identifier(name) != name || strings.HasPrefix(from, "__future__") {
			continue
		}
		s := pySymbol{Symbol: surface.Symbol{Name: name, Line: line.number, Kind: pyImportKind(name)}, weak: true}
		s.Signature = "import " + strings.Join(words, " ")
		if from != "" {
			s.Signature = "from " + from + " " + s.Signature
		}
		s.facade = strings.HasPrefix(from, ".") && name[0] != '_'
		if i := p.add(s); s.facade && len(words) == 3 && words[0] == name && p.symbols[i].weak {
			p.symbols[i].weak = false
		}
	}
}

func pyImportKind(name string) surface.Kind {
	if kind := pyConvention(name); kind != surface.Variable {
		return kind
	}
	return surface.Function
}

// outline keeps what is public.
func (p *pyModule) outline() surface.Outline {
	var o surface.Outline
	defines := false
	for _, s := range p.symbols {
		defines = defines || (s.Kind == surface.Type || s.Kind == surface.Function) && !s.weak && !s.facade &&
			s.Name[0] != '_'
	}
	for _, s := range p.symbols {
		if !p.isPublic(s, defines) {
			continue
		}
		if !s.made && len(s.fields) > 0 {
			s.Signature += ": " + strings.Join(s.fields, "; ")
		}
		o.Symbols = append(o.Symbols, s.Symbol)
	}
	return o
}

func (p *pyModule) isPublic(s pySymbol, defines bool) bool {
	root, _, member := strings.Cut(s.Name, ".")
	if p.all != nil {
		return p.all[root]
	}
	return root[0] != '_' && (!s.weak || s.facade && !defines || member)
}
