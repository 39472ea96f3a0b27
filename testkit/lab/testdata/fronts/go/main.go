// Program main runs openai-go, the official client of the OpenAI API, as ../npm/run.mjs runs the others:
// main URL CUTS STORY...
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

type line struct {
	API    string   `json:"api"`
	Story  string   `json:"story,omitempty"`
	Cut    int      `json:"cut,omitempty"`
	Status string   `json:"status"`
	Error  string   `json:"error,omitempty"`
	Texts  []string `json:"texts"`
	Same   bool     `json:"same"`
}

func main() {
	url, stories := os.Args[1], os.Args[3:]
	cuts, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, story := range stories {
		if story == "question" {
			continue // it has two requests, which the clients of JavaScript make
		}
		for _, l := range ask(url, story) {
			l.Story = story
			_ = out.Encode(l)
		}
	}
	for n := 1; n <= cuts; n++ {
		for _, l := range ask(fmt.Sprintf("%s/cut/%d", url, n), "plain") {
			l.Cut = n
			_ = out.Encode(l)
		}
	}
}

func ask(url, story string) []line {
	c := openai.NewClient(option.WithBaseURL(url+"/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	return []line{respond(c, story), retrieve(c, story)}
}

func respond(c openai.Client, story string) (l line) {
	l = line{API: "responses", Status: "cut", Same: true}
	stream := c.Responses.NewStreaming(context.Background(), responses.ResponseNewParams{Model: shared.ResponsesModel("chat"),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(story)}})
	for stream.Next() {
		l.end(stream.Current())
	}
	if err := stream.Err(); err != nil {
		l.Status, l.Error = "failed", err.Error()
	}
	return l
}

// end takes the status and the texts of the terminal.
func (l *line) end(e responses.ResponseStreamEventUnion) {
	if !slices.Contains([]string{"response.completed", "response.failed", "response.incomplete"}, e.Type) {
		return
	}
	if l.Status = cmp.Or(e.Response.IncompleteDetails.Reason, string(e.Response.Status)); l.Status == "cancelled" {
		l.Status = "canceled"
	}
	l.Error = e.Response.Error.Message
	for _, item := range e.Response.Output {
		if item.Type == "message" {
			l.Texts = append(l.Texts, item.AsMessage().Content[0].Text)
		}
	}
}

// retrieve reads a response in the background, from each number on.
func retrieve(c openai.Client, story string) (l line) {
	l = line{API: "retrieve", Status: "cut", Same: true}
	begun, err := c.Responses.New(context.Background(), responses.ResponseNewParams{Model: shared.ResponsesModel("chat"),
		Background: openai.Bool(true), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(story)}})
	if err != nil {
		l.Status, l.Error = "failed", err.Error()
		return l
	}
	read := func(after int64) (all []string, last responses.ResponseStreamEventUnion, err error) {
		stream := c.Responses.GetStreaming(context.Background(), begun.ID, responses.ResponseGetParams{StartingAfter: openai.Int(after)})
		for stream.Next() {
			if e := stream.Current(); e.Type != "keepalive" {
				last, all = e, append(all, e.RawJSON())
			}
		}
		return all, last, stream.Err()
	}
	whole, last, err := read(0)
	l.end(last)
	for i, event := range whole {
		var e struct {
			Number int64 `json:"sequence_number"`
		}
		if jsonErr := json.Unmarshal([]byte(event), &e); jsonErr != nil {
			panic(jsonErr)
		}
		rest, _, restErr := read(e.Number)
		err = errors.Join(err, restErr)
		l.Same = l.Same && slices.Equal(rest, whole[i+1:])
	}
	if err != nil {
		l.Status, l.Error = "failed", err.Error()
	}
	return l
}
