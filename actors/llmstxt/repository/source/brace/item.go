package brace

import "github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"

// Scope is what declarations stand in.
type Scope struct {
	Name     string // of the type, with those around it; "" for a file
	To       int    // the token after the last
	IsFile   bool   // of a file or namespace, which has types alone
	Implicit bool   // members are public unless they say otherwise
	Depth    int
}

// Item is a declaration in its scope.
type Item struct {
	In        Scope
	Start, At int // its first token, and the first after its modifiers
	Public    bool
	Constant  bool
}

// Body is the scope of what is declared between the braces that open at a token; nothing is where scopes are too deep.
func (s *File) Body(item Item, name string, open int) (from int, in Scope) {
	from, to := s.Inside(open)
	if item.In.Depth >= DeepestScope {
		to = from
	}
	return from, Scope{Name: surface.Qualify(item.In.Name, ".", name), To: to, Depth: item.In.Depth + 1}
}

// Found keeps the declaration if it is public. Its signature runs up to token "to".
func (s *File) Found(item Item, name string, kind surface.Kind, to int) {
	if item.Public {
		s.Declare(surface.Qualify(item.In.Name, ".", name), kind, item.Start, to)
	}
}

// Fields reads the variables that one type declares, as in "int a = 1, b". The first name ends before token "stop".
// The value of a constant is shown where it has at most so many tokens, its "=" included.
func (s *File) Fields(item Item, stop, shownTokens int) int {
	kind := surface.Variable
	if item.Constant {
		kind = surface.Constant
	}
	doc, head := "", ""
	for first := true; ; first = false {
		name := stop - 1
		if first && item.Public {
			doc, head = s.Doc(item.Start), s.Signature(item.Start, name)
		}
		end := s.UntilTyped(stop, item.In.To, ",", ";")
		shown := stop
		if item.Constant && end <= stop+shownTokens {
			shown = end
		}
		if item.Public && s.IsWord(name) {
			full := surface.Qualify(item.In.Name, ".", s.Name(name))
			s.Keep(full, kind, head+" "+s.Signature(name, shown), doc, name)
		}
		if !s.Is(end, ",") {
			return end + 1
		}
		stop = s.UntilTyped(end+1, item.In.To, "=", ",", ";")
	}
}
