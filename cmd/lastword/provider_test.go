package main

import (
	"flag"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed889630bf/lastword/testkit"
)

// serveDialect starts a server of models of a kind until the script ends. Its URL is in $LASTWORD_BASE_URL. It
// echoes. A model that is loaded has its context behind its name. -date puts a Date into the first list of models
// that is asked for, so much before now.
//
//	dialect [-key KEY] [-overflow FORM] [-date TIME] KIND [NAME[:CONTEXT]]...
func serveDialect(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("dialect", flag.ContinueOnError)
	key, overflow := flags.String("key", "", ""), flags.String("overflow", "", "")
	date := flags.Duration("date", 0, "")
	ts.Check(flags.Parse(args))
	if neg || flags.NArg() == 0 {
		ts.Fatalf("usage: dialect [-key key] [-overflow form] [-date time] kind [name[:context]]...")
	}
	o := testkit.ModelOptions{Dialect: testkit.Dialect(flags.Arg(0)), Key: *key, Overflow: testkit.Overflow(*overflow)}
	if flags.Arg(0) == "openai" {
		o.Dialect = testkit.OpenAI
	}
	for _, arg := range flags.Args()[1:] {
		name, context, loaded := strings.Cut(arg, ":")
		n, _ := strconv.Atoi(context)
		s := testkit.ServedModel{ID: name, Loaded: loaded, Context: n}
		if strings.HasPrefix(name, "embed") {
			s.Kind = "embeddings"
		}
		o.Models = append(o.Models, s)
	}
	m, err := testkit.ListenModel(o)
	ts.Check(err)
	ts.Defer(m.Close)
	if *date != 0 {
		at := time.Now().Add(-*date).UTC().Format(http.TimeFormat)
		m.AnswerTo("/v1/models", testkit.Header("Date", at), testkit.JSON(200, `{"object":"list","data":[{"id":"scripted"}]}`))
	}
	ts.Setenv("LASTWORD_BASE_URL", m.URL())
	models.Store(ts.MkAbs("."), m)
}
