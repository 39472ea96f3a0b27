package host

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/transport/a2a"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/nano"
	"github.com/seed889630bf/lastword/transport/openai"
)

// dialects adds the protocols of other systems to a server, by name.
var dialects = map[string]func(s *Server, d *door.Door){
	"erlmcp": func(s *Server, d *door.Door) { s.addDialect(erlmcp.New(d), erlmcp.Path) },
	"looopy": func(s *Server, d *door.Door) { s.addDialect(looopy.New(d), looopy.Path) },
	nanoDialect: func(s *Server, d *door.Door) {
		s.Nano = nano.New(d)
		s.addDialect(s.Nano, nano.Paths()...)
	},
	"a2a":    func(s *Server, d *door.Door) { s.addDialect(a2a.New(d), a2a.Path, a2a.CardPath) },
	"ag-ui":  func(s *Server, d *door.Door) { s.addDialect(agui.New(d), agui.Paths()...) },
	"ai-sdk": func(s *Server, d *door.Door) { s.addDialect(aisdk.New(d), aisdk.Paths()...) },
	"openai": func(s *Server, d *door.Door) { openai.Add(d, s.addDialect) },
}

func (s *Server) addDialect(protocol *door.Handler, paths ...string) {
	for _, path := range paths {
		s.Dialects[path] = protocol
	}
}

// nanoDialect is the dialect that can have its own listener (--nano).
const nanoDialect = "nano"

// AgentCard is the path of A2A's card, which clients read before they have a token.
const AgentCard = a2a.CardPath

// allDialects stands for all dialects in --dialects.
const allDialects = "all"

// DialectNames returns the values of --dialects.
func DialectNames() []string { return append(slices.Sorted(maps.Keys(dialects)), allDialects) }

// readDialects returns the names that --dialects and --nano mean.
func (f *Flags) readDialects() ([]string, error) {
	names := slices.Clone(f.Dialects)
	if f.NanoListen != "" {
		names = append(names, nanoDialect)
	}
	if slices.Contains(names, allDialects) {
		return slices.Sorted(maps.Keys(dialects)), nil
	}
	for _, name := range names {
		if dialects[name] == nil {
			return nil, errors.New("--dialects takes " + strings.Join(DialectNames(), ", "))
		}
	}
	return names, nil
}

// newDialects creates the handlers of the dialects.
func (s *Server) newDialects(d *door.Door) {
	s.Dialects = map[string]*door.Handler{}
	for _, name := range s.jobs.protocols {
		dialects[name](s, d)
	}
}
