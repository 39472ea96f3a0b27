package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/testkit"
)

// models are the scripts' models, by the script's folder.
var models sync.Map

// serveModel starts a server of models until the script ends. Its URL is in $LASTWORD_BASE_URL, and every completion
// is answered by the pieces: text:WORDS, thought:WORDS, call:TOOL ARGUMENTS, finish:REASON, usage:PROMPT,ANSWER, frame:DATA, error:WORDS,
// status:CODE, and done, cut, reset, stall. Backslash escapes are Go's. Without pieces it echoes. next ends the pieces of
// an answer; the last answer is given again and again.
//
//	model [-key KEY] [-loaded NAME] [PIECE]...
func serveModel(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	key, name := flags.String("key", "", ""), flags.String("loaded", "", "")
	ts.Check(flags.Parse(args))
	if neg {
		ts.Fatalf("usage: model [-key key] [-loaded name] [piece]...")
	}
	o := testkit.ModelOptions{Key: *key}
	if *name != "" {
		o.Dialect = standin.LMStudio
		o.Models = []standin.ServedModel{{ID: "idle"}, {ID: *name, Loaded: true}}
	}
	m, err := testkit.ListenModel(o)
	ts.Check(err)
	ts.Defer(m.Close)
	var pieces []testkit.Piece
	for _, arg := range flags.Args() {
		if arg == "next" {
			m.Answer(pieces...)
			pieces = nil
			continue
		}
		p, err := pieceOf(arg)
		ts.Check(err)
		pieces = append(pieces, p)
	}
	m.Always(pieces...)
	ts.Setenv("LASTWORD_BASE_URL", m.URL())
	models.Store(ts.MkAbs("."), m)
}

func pieceOf(arg string) (testkit.Piece, error) {
	what, rest, _ := strings.Cut(arg, ":")
	words, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
	if err != nil {
		return testkit.Piece{}, fmt.Errorf("%s: %w", arg, err)
	}
	switch what {
	case "text":
		return testkit.Text(words), nil
	case "thought":
		return testkit.Thought(words), nil
	case "call":
		name, arguments, _ := strings.Cut(words, " ")
		return testkit.Call(0, "c0", name, arguments), nil
	case "finish":
		return testkit.Finish(words), nil
	case "usage":
		prompt, answer, _ := strings.Cut(words, ",")
		p, _ := strconv.Atoi(prompt)
		a, _ := strconv.Atoi(answer)
		return testkit.Usage(p, a), nil
	case "frame":
		return standin.Frame(words), nil
	case "error":
		return testkit.ErrorFrame(words), nil
	case "status":
		code, err := strconv.Atoi(words)
		return standin.JSON(code, `{"error":{"message":"no such luck"}}`), err
	case "done":
		return testkit.Done(), nil
	case "cut":
		return testkit.Cut(), nil
	case "reset":
		return standin.Reset(), nil
	case "stall":
		return testkit.Stall(), nil
	}
	return testkit.Piece{}, fmt.Errorf("what is the piece %q?", arg)
}

// asked checks the bodies of the requests for completions that the script's model has got, a line each.
//
//	asked COUNT [PATTERN]...
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: asked count [pattern]...")
	}
	v, _ := models.Load(ts.MkAbs("."))
	m := v.(*testkit.Model)
	var lines []string
	for _, r := range m.Requests() {
		if !strings.HasSuffix(r.Path, "/chat/completions") {
			continue
		}
		var body map[string]json.RawMessage
		ts.Check(json.Unmarshal(r.Body, &body))
		line, err := json.Marshal(body) // in the order of the names
		ts.Check(err)
		lines = append(lines, fmt.Sprintf("%s bearer:%t", line, r.Bearer))
	}
	all := strings.Join(lines, "\n")
	if fmt.Sprint(len(lines)) != args[0] {
		ts.Fatalf("%d requests, want %s:\n%s", len(lines), args[0], all)
	}
	for _, pattern := range args[1:] {
		if !regexp.MustCompile(pattern).MatchString(all) {
			ts.Fatalf("no request is like %s:\n%s", pattern, all)
		}
	}
}

func within(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(patience):
		return false
	}
}

// serveDialect starts a server of models of a kind until the script ends. Its URL is in $LASTWORD_BASE_URL. It
// echoes. A model that is loaded has its context behind its name. -date puts a Date into the first list of models
// that is asked for, so much before now.
//
//	dialect [-key KEY] [-date TIME] KIND [NAME[:CONTEXT]]...
func serveDialect(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("dialect", flag.ContinueOnError)
	key := flags.String("key", "", "")
	date := flags.Duration("date", 0, "")
	ts.Check(flags.Parse(args))
	if neg || flags.NArg() == 0 {
		ts.Fatalf("usage: dialect [-key key] [-date time] kind [name[:context]]...")
	}
	o := testkit.ModelOptions{Dialect: standin.Dialect(flags.Arg(0)), Key: *key}
	if flags.Arg(0) == "openai" {
		o.Dialect = standin.OpenAI
	}
	for _, arg := range flags.Args()[1:] {
		name, context, loaded := strings.Cut(arg, ":")
		n, _ := strconv.Atoi(context)
		s := standin.ServedModel{ID: name, Loaded: loaded, Context: n}
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
		m.AnswerTo("/v1/models", standin.Header("Date", at), standin.JSON(200, `{"object":"list","data":[{"id":"scripted"}]}`))
	}
	ts.Setenv("LASTWORD_BASE_URL", m.URL())
	models.Store(ts.MkAbs("."), m)
}
