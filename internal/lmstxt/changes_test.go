package lmstxt_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// told keeps the URIs that a session is told have changed.
func told(c *client, uris map[string]bool) func(message) {
	return func(m message) {
		var p struct{ URI string }
		if m.Method == "notifications/resources/updated" && json.Unmarshal(m.Params, &p) == nil {
			uris[p.URI] = true
		}
	}
}

// hears waits until the session was told of the URI.
func (c *client) hears(uris map[string]bool, uri string) {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !uris[uri]; {
		c.do("ping", nil, told(c, uris))
		if time.Now().After(deadline) {
			c.t.Fatalf("never told of %s, but of %v", uri, slices.Sorted(maps.Keys(uris)))
		}
	}
}

// Who subscribed to a file hears of every run of theirs that writes it, the next one too, and of nobody else's.
func TestSubscribersHearOfTheirFiles(t *testing.T) {
	k := newKit(t)
	mine, theirs := k.dial("ann", false), k.dial("bob", false)
	files := []string{"lmstxt://artifacts/out/plants/garden/garden-llms.txt",
		"lmstxt://graphs/out/plants/garden/graph/repo.graph.json"}
	node := "repo://plants--garden/graph/nodes/soil"
	heard, overheard := map[string]bool{}, map[string]bool{}
	for _, uri := range append(files, node, "lmstxt://artifacts/another.txt") {
		for _, c := range []*client{mine, theirs} {
			if m := c.do("resources/subscribe", map[string]any{"uri": uri}); m.Error != nil {
				t.Fatalf("%s: %+v", uri, m.Error)
			}
		}
	}
	generate := func(out string) record {
		a := mine.call("lmstxt_generate_llms_txt_stream", map[string]any{"url": url, "output_dir": out,
			"generate_graph": true, "cache_lm": false}, told(mine, heard))
		return mine.recordOf(a)
	}
	for range 2 {
		clear(heard)
		generate("out")
		for _, uri := range files {
			mine.hears(heard, uri)
		}
	}
	clear(heard)
	r := generate("") // where nodes have their short name
	mine.hears(heard, node)
	if heard[files[0]] || heard["lmstxt://artifacts/another.txt"] {
		t.Errorf("told of %v", heard)
	}
	mine.do("resources/subscribe", map[string]any{"uri": "lmstxt://runs/" + r.RunID + "/llms.txt"})
	theirs.do("resources/subscribe", map[string]any{"uri": "notes://x"})
	k.door.Updated("notes://x")
	theirs.hears(overheard, "notes://x")
	if len(overheard) > 1 {
		t.Errorf("another is told of %v", overheard)
	}
	many := "repo://" + strings.Repeat("a--", 100) + "b/graph/nodes/x"
	if m := theirs.do("resources/subscribe", map[string]any{"uri": many}); m.Error == nil {
		t.Error("subscribed to a hundred files at once")
	}
	if m := theirs.do("resources/subscribe", map[string]any{"uri": "notes://y"}); m.Error != nil {
		t.Errorf("what was refused is left: %+v", m.Error)
	}
	if m := theirs.do("resources/subscribe", map[string]any{"uri": "lmstxt://runs/" + r.RunID + "/llms.txt"}); m.Error == nil {
		t.Error("another subscribed to the run's file")
	}
}

// Of what was written twice, the list has the later run's alone: the earlier one's cannot be read any more.
func TestReplacedFilesAreNotListed(t *testing.T) {
	c := newKit(t).dial("ann", false)
	generate := func(out string) messages.RunID {
		return c.recordOf(c.call("lmstxt_generate_llms_txt_stream", map[string]any{"url": url, "output_dir": out})).RunID
	}
	runs := []messages.RunID{generate("out"), generate("else"), generate("out")}
	var list struct{ Resources []struct{ URI string } }
	if m := c.do("resources/list", nil); m.Error != nil || json.Unmarshal(m.Result, &list) != nil {
		t.Fatalf("%+v %s", m.Error, m.Result)
	}
	of := map[messages.RunID]int{}
	for _, r := range list.Resources {
		run, _, _ := strings.Cut(strings.TrimPrefix(r.URI, "run://"), "/")
		of[messages.RunID(run)]++
		if m := c.do("resources/read", map[string]any{"uri": r.URI}); m.Error != nil {
			t.Errorf("%s is listed: %+v", r.URI, m.Error)
		}
	}
	if of[runs[0]] > 0 || of[runs[1]] == 0 || of[runs[2]] == 0 {
		t.Errorf("the files of %v are listed %v times", runs, of)
	}
}
