package host

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/aisdk"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/erlmcp"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/looopy"
	"github.com/seed889630bf/lastword/transport/nano"
	"github.com/seed889630bf/lastword/transport/openai"
	"github.com/seed889630bf/lastword/transport/openai/completions"
	"github.com/seed889630bf/lastword/transport/openai/responses"
)

// dialects add the doors of the dialects by name.
var dialects = map[string]func(i *Server, c door.Config){
	"erlmcp": func(i *Server, c door.Config) { i.addDialect(erlmcp.New(c, ThisBuild().Full()), erlmcp.Path) },
	"looopy": func(i *Server, c door.Config) { i.addDialect(looopy.New(c), looopy.Path) },
	nanoDialect: func(i *Server, c door.Config) {
		i.Nano = nano.New(c, ThisBuild().Full())
		i.addDialect(i.Nano, nano.Paths()...)
	},
	"ag-ui":  func(i *Server, c door.Config) { i.addDialect(agui.New(c), agui.Paths()...) },
	"ai-sdk": func(i *Server, c door.Config) { i.addDialect(aisdk.New(c), aisdk.Paths()...) },
	"openai": func(i *Server, c door.Config) {
		i.addDialect(openai.New(c), openai.Paths()...)
		i.addDialect(completions.New(c), completions.Path)
		i.addDialect(responses.New(c), responses.Paths()...)
	},
}

func (i *Server) addDialect(door http.Handler, paths ...string) {
	for _, path := range paths {
		i.Dialects[path] = door
	}
}

// nanoDialect is the dialect that has a listener of its own with --nano.
const nanoDialect = "nano"

// allDialects in --dialects stands for every dialect.
const allDialects = "all"

// DialectNames are what --dialects takes.
func DialectNames() []string { return append(slices.Sorted(maps.Keys(dialects)), allDialects) }

// checkDialects returns what is wrong with --dialects.
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

// newDialects makes the doors of the dialects for the API's jobs.
func (i *Server) newDialects(c api.Config) {
	h := i.options
	config := door.Config{Runs: i.system, Open: h.artifact, Redact: h.Secrets.Bytes}
	for _, job := range c.Jobs {
		one := door.Job{Name: job.Name, Description: job.Description, Schema: job.Schema, Limits: job.Limits,
			Prepare: job.Prepare}
		switch job.Name {
		case prompt.Name:
			one.Text = "text"
		case chat.Name:
			one.Text = "message"
		}
		config.Jobs = append(config.Jobs, one)
	}
	i.Dialects = map[string]http.Handler{}
	for _, name := range h.Dialects {
		dialects[name](i, config)
	}
}
