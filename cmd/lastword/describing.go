package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

// describing is what the flags of generate say about a model.
type describing struct {
	at      endpoint
	looked  []string // where auto looks for a server; localServers if nil
	clients clients
}

// localServers lists where LM Studio, llama.cpp (of late, and before) and Ollama listen if nobody says otherwise.
func localServers() []string {
	return []string{lmStudio, "http://127.0.0.1:9931/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:11434/v1"}
}

// lookTime is how long a server may take to say which models it has.
const lookTime = 5 * time.Second

func (d *describing) flags(cmd *cobra.Command, flags *pflag.FlagSet, in *llmstxt.Input) {
	flags.StringVar(&in.Model, "model", "",
		"`name` of a model that describes the repository; auto is one that a server on this machine has loaded")
	flags.BoolVar(&in.RequireModel, "require-model", false, "fail where the model does, in place of a degraded result")
	d.at.flags(cmd, flags)
}

// judge tells what is wrong with the endpoint before there is a run.
func (d *describing) judge(model string) error {
	if model == "" {
		return nil
	}
	client, err := d.at.client(0)
	if err == nil {
		client.Close()
	}
	return err
}

// find is an llmstxt.FindModel.
func (d *describing) find(ctx context.Context, name string) (*llmstxt.Model, error) {
	if d.at.baseURL != "" || name != llmstxt.AutoModel {
		return d.ask(ctx, d.at, name)
	}
	looked := d.looked
	if looked == nil {
		looked = localServers()
	}
	for _, url := range looked {
		at := d.at
		at.baseURL, at.guessed = url, true
		if m, err := d.ask(ctx, at, name); err == nil {
			return m, nil
		}
	}
	return nil, provider("no server with a model answers on this machine; start one, or name it with --base-url")
}

// ask asks one server for the model. One that does not list its models may have it all the same.
func (d *describing) ask(ctx context.Context, at endpoint, name string) (*llmstxt.Model, error) {
	client, err := d.clients.of(at)
	if err != nil {
		return nil, err
	}
	learned, err := at.learned()
	if err != nil {
		return nil, err
	}
	m := &llmstxt.Model{Stream: client.Stream, Name: name, Server: at.host(), Ladder: new(structured.Ladder)}
	looking, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	_, list, err := client.Models(looking)
	if name == llmstxt.AutoModel {
		if m.Name, err = chosen(at, list, err); err != nil {
			return nil, err
		}
	}
	m.Context = contextOf(list, m.Name)
	know(m, learned)
	return m, nil
}

// chosen is the model that auto means on a server that has answered with the list, or failed to.
func chosen(at endpoint, list []llm.Info, err error) (string, error) {
	if err != nil {
		return "", provider("the server at %s does not say which models it has: %v", at.host(), err)
	}
	name, err := oneOf(list)
	if err == nil && name == "" {
		err = provider("the server at %s has no model; load one, or name it with --model", at.host())
	}
	return name, err
}

// know adds what a check has learned of the server, and of the model if it was the one that was asked.
func know(m *llmstxt.Model, learned *probe.Profile) {
	if learned == nil {
		return
	}
	if level, ok := structured.LevelOf(learned.Structured); ok {
		m.Ladder = structured.NewLadder(level)
	}
	if learned.Model == m.Name {
		m.Extra, m.Context = learned.Server.Off, cmp.Or(m.Context, learned.Context)
	}
}

func provider(format string, args ...any) error {
	return messages.Errorf(messages.Code(messages.CauseProviderError), format, args...)
}

func contextOf(list []llm.Info, name string) int {
	for _, m := range list {
		if m.ID == name && m.Loaded {
			return m.Context
		}
	}
	return 0
}

func (d *describing) close() { d.clients.close() }
