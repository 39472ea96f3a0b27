package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Reference section 4: "three leaks [M]: (1) stateless legacy mode + pending RequestElicitation registers the session
// under "" -> another client's progress went to the waiting client (21 of 40 events)". A client that has no session
// gets none of somebody's, and while one is asked the progress of others stays theirs.
func TestLeakOfSessionsWithoutName(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	stranger := modernClient(t, url)
	if status, _ := stranger.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != http.StatusBadRequest {
		t.Errorf("without a session: %d", status)
	}
	addAsk(f)
	asked := sessionClientAs(t, url, "", `{"elicitation":{}}`)
	waits := asked.send(t.Context(), http.MethodPost, toolCall("1", "ask", `{}`, ""))
	events := newStream(t, waits.Body)
	question, _ := events.next()
	var others sync.WaitGroup
	for i := range 8 {
		others.Go(func() {
			_, got := sessionClient(t, url).call("1", "count", fmt.Sprintf(`{"tag":"%d"}`, i))
			whole(t, got, 5, "1", fmt.Sprint(i))
		})
	}
	others.Wait()
	asked.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, question.ID))
	if m, _ := events.next(); m.text() != "decline" {
		t.Errorf("%+v", m)
	}
}

// "(2) modern HTTP: inflight key is ":"+id, so any client's POST notifications/cancelled{requestId} cancels another's
// call". Nothing but the closing of its own stream cancels one.
func TestLeakOfModernCancellation(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	victim, other := modernClient(t, url), modernClient(t, url)
	came := victim.start(t.Context(), toolCall("1", "hold", `{}`, modernMeta))
	x := <-f.entered
	for _, meta := range []string{"", modernMeta} {
		other.headers["Mcp-Protocol-Version"] = "2026-07-28"
		other.headers["Mcp-Method"] = "notifications/cancelled"
		if status := other.notify("notifications/cancelled", `{"requestId":1,"_meta":{`+meta+`}}`); status != 202 {
			t.Error(status)
		}
	}
	twin := modernClient(t, url).start(t.Context(), toolCall("1", "hold", `{}`, modernMeta))
	if y := <-f.entered; y == x || y.Session() != nil {
		t.Error("two clients share a request")
	}
	close(f.release)
	whole(t, drain(t, soon(t, came)), 0, "1", "held")
	whole(t, drain(t, soon(t, twin)), 0, "1", "held")
}

// "(3) tasks/status broadcast". What is for all reaches only streams that are open for it: one in a session,
// and none of a request's; what is for one session reaches that one.
func TestLeakOfBroadcasts(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	c, bystander := sessionClient(t, url), sessionClient(t, url)
	mine := newStream(t, c.send(t.Context(), http.MethodGet, "").Body)
	theirs := newStream(t, bystander.send(t.Context(), http.MethodGet, "").Body)
	call := bystander.start(t.Context(), toolCall("1", "wait", `{"begin":true}`, ""))
	session := soon(t, f.entered).Session()

	must(t, session.Notify("notifications/theirs", nil))
	f.wire.Broadcast("notifications/all")
	for s, want := range map[*stream]string{
		mine:   "notifications/all",
		theirs: "notifications/theirs notifications/all",
	} {
		var got []string
		for range strings.FieldsSeq(want) {
			m, _ := s.next()
			got = append(got, m.Method)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	bystander.notify("notifications/cancelled", cancel1)
	if got := drain(t, soon(t, call)); len(got) != 1 || got[0].Params.Progress != 1 {
		t.Errorf("on the request's stream: %+v", got)
	}
}

// "session ids unguessable, not auth: default manager accepts ANY well-formed id, never terminates", and the bearer of
// another principal's gets what everybody gets for one that never was.
func TestSessionsAreTheirPrincipals(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	alice := sessionClientAs(t, url, "alice", `{}`)
	if len(alice.session) < 22 {
		t.Errorf("%q is too short for 128 bits", alice.session)
	}
	came := alice.start(t.Context(), toolCall("1", "wait", `{}`, ""))
	<-f.entered
	mallory := modernClient(t, url)
	mallory.headers["Caller"] = "mallory"
	for _, session := range []string{alice.session, strings.Repeat("A", 26)} {
		mallory.session = session
		mallory.isLost()
	}
	none(t, f.causes, "it was cancelled")
	alice.notify("notifications/cancelled", cancel1)
	soon(t, came)
}

// "a session is bound to its principal": and to its scopes. What a writer is asked is not for a reader of the same name
// to answer, cancel or end, whatever that one knows of the session; who may do the same goes on in it.
func TestSessionsAreOfTheirScopes(t *testing.T) {
	f := newFixture(t, wire.Config{})
	addAsk(f)
	url := f.serveHTTP(t)
	as := func(scopes string) *client {
		c := modernClient(t, url)
		c.headers["Caller"], c.headers["Scopes"] = "mia", scopes
		return c
	}
	writer := as("run:read run:write")
	writer.session = writer.send(t.Context(), http.MethodPost, initialize(able)).Header.Get("Mcp-Session-Id")
	events := newStream(t, writer.send(t.Context(), http.MethodPost, toolCall("1", "ask", `{}`, "")).Body)
	question, _ := events.next()
	for _, scopes := range []string{"run:read", "run:write", "admin", ""} {
		other := as(scopes)
		other.session = writer.session
		yes := answer(question.ID, `"result":{"action":"accept","content":{}}`)
		if response := other.send(t.Context(), http.MethodPost, yes); response.StatusCode != http.StatusNotFound {
			t.Fatalf("an answer of %q: %s", scopes, response.Status)
		}
		other.isLost()
	}
	same := as("run:write run:read")
	same.session = writer.session
	if status, _ := same.ask(answer(question.ID, `"result":{"action":"decline"}`)); status != http.StatusAccepted {
		t.Errorf("the same scopes: %d", status)
	}
	if m, _ := events.next(); m.text() != "decline" {
		t.Errorf("%+v", m)
	}
}

// The session of a process's stdio is nobody's over HTTP.
func TestStdioIsNotFoundOverHTTP(t *testing.T) {
	f := newFixture(t, wire.Config{})
	f.serveStdio(t).begin(`{}`)
	c := modernClient(t, f.serveHTTP(t))
	c.session = "stdio"
	c.isLost()
}
