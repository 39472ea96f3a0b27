package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// ServingIDs are the checks of a server that lastword serve has started.
var ServingIDs = []string{"serve", "serve-clock", "serve-token", "serve-build", "serve-store", "serve-models"}

const (
	askTime   = 10 * time.Second
	mostAsked = 4 << 20
)

var errHangs = fmt.Errorf("there is a server, and it has not answered within %s", askTime)

// answer is what the server says to a question.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask returns what the server answers to a path, at most mostAsked bytes of it.
func ask(ctx context.Context, c *api.Client, path string) (a answer, err error) {
	response, err := c.Get(ctx, path)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAsked))
	return answer{response.StatusCode, response.Header, body}, err
}

// Page is the status and the body of what a server answers to a path.
func Page(ctx context.Context, c *api.Client, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errHangs)
	defer cancel()
	a, err := ask(ctx, c, path)
	return fmt.Appendf(nil, "%d %s\n%s", a.status, http.StatusText(a.status), a.body), err
}

// Serving checks the server of the client as its caller; token says whether the client has one.
func Serving(ctx context.Context, c *api.Client, url string, token bool) (found []probe.Result) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errHangs)
	defer cancel()
	ready, err := ask(ctx, c, "/readyz")
	switch says := strings.TrimSpace(string(ready.body)); {
	case errors.Is(err, errHangs):
		return []probe.Result{Finding("serve", probe.Fail, "look at its log and its load; lastword bundle collects what tells why", "%s: %v", url, err)}
	case err != nil:
		return []probe.Result{Finding("serve", probe.Fail, "start it with lastword serve, or name another with --server", "%v", err)}
	case ready.status == http.StatusOK:
		found = append(found, Fine("serve", "%s takes runs", url))
	case ready.status == http.StatusServiceUnavailable:
		found = append(found, Finding("serve", probe.Fail, "docs/operations.md says what to do, below What to watch", "%s takes no runs: %s", url, words.Clip(says, 300)))
	default:
		return []probe.Result{Finding("serve", probe.Fail, "name the server without a path", "%s is no server of lastword: its /readyz answers %d", url, ready.status)}
	}
	found = append(found, clock("serve-clock", ready.header, time.Now()))
	runs, err := ask(ctx, c, "/v1/runs?limit=1")
	switch {
	case err != nil:
		return append(found, Finding("serve-token", probe.Fail, "look at the server's log", "%v", err))
	case runs.status == http.StatusUnauthorized && token:
		return append(found, Finding("serve-token", probe.Fail, "ask for a new one: lastword token add makes one", "the server does not know your token"))
	case runs.status == http.StatusUnauthorized:
		return append(found, Finding("serve-token", probe.Warn, "give --token-file FILE; lastword token add makes one", "the server asks for a token"))
	}
	metrics, err := ask(ctx, c, "/metrics")
	admin := err == nil && metrics.status == http.StatusOK
	found = append(found, mayDo(ctx, c, runs.status == http.StatusOK, admin, token), sameVersion(ctx, c))
	if admin {
		found = append(found, kept(metrics.body))
	}
	return append(found, models(ctx, c)...)
}

// mayDo tells the scopes of the token. Nothing is canceled: there is no such run.
func mayDo(ctx context.Context, c *api.Client, read, admin, token bool) probe.Result {
	if !token {
		return Fine("serve-token", "the server asks for none: whoever reaches it may do all, but people alone confirm")
	}
	var scopes []string
	for scope, may := range map[auth.Scope]bool{auth.ReadRuns: read, auth.Admin: admin,
		auth.WriteRuns: messages.CodeOf(c.Cancel(ctx, "r_doctor", "")) == messages.CodeNotFound} {
		if may {
			scopes = append(scopes, string(scope))
		}
	}
	slices.Sort(scopes)
	return Fine("serve-token", "yours has the scopes %s", strings.Join(scopes, ", "))
}

// sameVersion compares the version in the server's /openapi.json with this program's version.
func sameVersion(ctx context.Context, c *api.Client) probe.Result {
	const id = "serve-build"
	var document struct{ Info struct{ Version string } }
	page, err := ask(ctx, c, "/openapi.json")
	if err != nil || json.Unmarshal(page.body, &document) != nil || document.Info.Version == "" {
		return Finding(id, probe.Skip, "", "the server does not tell it")
	}
	there, here := document.Info.Version, build.This().Full()
	if there != here {
		return Finding(id, probe.Warn, "use the same version here and there", "the server is lastword %s, this is %s", there, here)
	}
	return Fine(id, "the server is lastword %s, too", there)
}

// kept tells the state of the server's store, from its metrics.
func kept(metrics []byte) probe.Result {
	const id = "serve-store"
	value := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(metrics)); lines.Scan(); {
		if name, text, found := strings.Cut(lines.Text(), " "); found {
			value[name], _ = strconv.ParseFloat(text, 64)
		}
	}
	is := func(name string) int64 { return int64(value["lastword_"+name]) }
	switch aside, retries := is("runs_set_aside"), is("journal_retries"); {
	case aside > 0:
		return Finding(id, probe.Warn, "lastword verify --all says what is wrong with them; restore a backup", "%s cannot be read or go on", words.Count(aside, "run"))
	case is("sessions_local") > 0:
		return Finding(id, probe.Warn, "give each node the same file with --session-key", "sessions of MCP hold at this node alone, because it has no --session-key")
	case retries > 0:
		return Finding(id, probe.Warn, "look at the server's disk, or at NATS", "%s had to be tried again since the server's start", words.Count(retries, "write"))
	}
	return Fine(id, "%s at work, %d of them waiting for people; each write was taken at once", words.Count(is("runs_active"), "run"), is("runs_waiting"))
}

// models tells whether the server reaches a server of models, where it has the dialect that says so.
func models(ctx context.Context, c *api.Client) []probe.Result {
	const id = "serve-models"
	var list struct{ Data []struct{ ID string } }
	page, err := ask(ctx, c, "/v1/models")
	if err != nil || page.status != http.StatusOK || json.Unmarshal(page.body, &list) != nil {
		return nil
	}
	var jobs struct{ Jobs []struct{ Name string } }
	if page, err = ask(ctx, c, "/v1/jobs"); err != nil || json.Unmarshal(page.body, &jobs) != nil {
		return nil
	}
	for _, job := range jobs.Jobs {
		list.Data = slices.DeleteFunc(list.Data, func(m struct{ ID string }) bool { return m.ID == job.Name })
	}
	if len(list.Data) == 0 {
		return []probe.Result{Finding(id, probe.Warn, "start one that the server reaches, and name it with --base-url of serve", "the server reaches no server of models, or it has no model")}
	}
	return []probe.Result{Fine(id, "the server has %s, such as %s", words.Count(len(list.Data), "model"), list.Data[0].ID)}
}
