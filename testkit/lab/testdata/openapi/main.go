// Openapi lists, starts and follows a run with the clients that two generators make of /openapi.json.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"gen/oapi"
	"gen/ogen"
)

func main() {
	url, job, input := os.Args[1], os.Args[2], os.Args[3]
	for name, follow := range map[string]func(url, job, input string) (string, error){"oapi-codegen": byOapi, "ogen": byOgen} {
		kinds, err := follow(url, job, input)
		fmt.Println(name, kinds, err)
		if err != nil {
			os.Exit(1)
		}
	}
}

func byOapi(url, job, input string) (kinds string, err error) {
	ctx := context.Background()
	c, err := oapi.NewClientWithResponses(url)
	if err != nil {
		return "", err
	}
	var in any
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return "", err
	}
	run, err := c.StartRunWithResponse(ctx, nil, oapi.Start{Job: job, Input: &in})
	if err != nil || run.JSON202 == nil {
		return "", fmt.Errorf("start: %v %s", err, run.Body)
	}
	list, err := c.ListRunsWithResponse(ctx, nil)
	if err != nil || list.JSON200 == nil || len(list.JSON200.Runs) == 0 {
		return "", fmt.Errorf("list: %v %s", err, list.Body)
	}
	wait := "30s"
	for after := ""; ; {
		page, err := c.GetEventsWithResponse(ctx, run.JSON202.RunId, &oapi.GetEventsParams{After: &after, Wait: &wait})
		if err != nil || page.JSON200 == nil {
			return kinds, fmt.Errorf("events: %v", err)
		}
		for _, e := range page.JSON200.Events {
			kinds += e.Type + " "
		}
		next, _ := page.JSON200.Next.MarshalJSON()
		if after = string(next); page.JSON200.Ended {
			return kinds, nil
		}
	}
}

func byOgen(url, job, input string) (kinds string, err error) {
	ctx := context.Background()
	c, err := ogen.NewClient(url, nobody{})
	if err != nil {
		return "", err
	}
	started, err := c.StartRun(ctx, &ogen.Start{Job: job, Input: []byte(input)}, ogen.StartRunParams{})
	if err != nil {
		return "", err
	}
	state, ok := started.(*ogen.StartRunAccepted)
	if !ok {
		return "", fmt.Errorf("start: %T %+v", started, started)
	}
	list, err := c.ListRuns(ctx, ogen.ListRunsParams{})
	if runs, ok := list.(*ogen.RunList); err != nil || !ok || len(runs.Runs) == 0 {
		return "", fmt.Errorf("list: %v %T", err, list)
	}
	for after := ""; ; {
		got, err := c.GetEvents(ctx, ogen.GetEventsParams{ID: state.RunID, After: ogen.NewOptString(after), Wait: ogen.NewOptString("30s")})
		if err != nil {
			return kinds, err
		}
		page, ok := got.(*ogen.Page)
		if !ok {
			return kinds, fmt.Errorf("events: %T", got)
		}
		for _, e := range page.Events {
			kinds += e.Type + " "
		}
		if after = fmt.Sprint(page.Next.Int); page.Ended {
			return kinds, nil
		}
	}
}

// nobody has no token.
type nobody struct{}

func (nobody) Bearer(context.Context, ogen.OperationName) (ogen.Bearer, error) {
	return ogen.Bearer{}, nil
}

func (nobody) Session(context.Context, ogen.OperationName) (ogen.Session, error) {
	return ogen.Session{}, nil
}
