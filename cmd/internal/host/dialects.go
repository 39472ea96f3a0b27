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
var dialects = map[string]func(i *Server, d *door.Door){
	"erlmcp": func(i *Server, d *door.Door) { i.addDialect(erlmcp.New(d), erlmcp.Path) },
	"looopy": func(i *Server, d *door.Door) { i.addDialect(looopy.New(d), looopy.Path) },
	nanoDialect: func(i *Server, d *door.Door) {
		i.Nano = nano.New(d)
		i.addDialect(i.Nano, nano.Paths()...)
	},
	"a2a":    func(i *Server, d *door.Door) { i.addDialect(a2a.New(d), a2a.Path, a2a.CardPath) },
	"ag-ui":  func(i *Server, d *door.Door) { i.addDialect(agui.New(d), agui.Paths()...) },
	"ai-sdk": func(i *Server, d *door.Door) { i.addDialect(aisdk.New(d), aisdk.Paths()...) },
	"openai": func(i *Server, d *door.Door) { openai.Add(d, i.addDialect) },
}

func (i *Server) addDialect(protocol *door.Handler, paths ...string) {
	for _, path := range paths {
		i.Dialects[path] = protocol
	}
}

// nanoDialect is the dialect that can have a listener of its own (--nano).
const nanoDialect = "nano"

// AgentCard is the path of A2A's card, which clients read before they have a token.
const AgentCard = a2a.CardPath

// allDialects stands for all dialects in --dialects.
const allDialects = "all"

// DialectNames returns the values of --dialects.
func DialectNames() []string { return append(slices.Sorted(maps.Keys(dialects)), allDialects) }

// checkDialects checks --dialects.
func (h *Options) checkDialects() error {
	if h.NanoListen != "" {
		h.Dialects = append(h.Dialects, nanoDialect)
	}
	if slices.Contains(h.Dialects, allDialects) {
		h.Dialects = slices.Sorted(maps.Keys(dialects))
	}
	for _, name := range h.Dialects {
		if dialects[name] == nil {
			return errors.New("--dialects takes " + strings.Join(DialectNames(), ", "))
		}
	}
	return nil
}

// newDialects creates the handlers of the dialects.
func (i *Server) newDialects(d *door.Door) {
	i.Dialects = map[string]*door.Handler{}
	for _, name := range i.options.Dialects {
		dialects[name](i, d)
	}
}
