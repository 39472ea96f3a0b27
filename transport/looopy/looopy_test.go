package looopy_test

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/looopy"
)

// event is one server-sent event.
type event struct {
	id, name string
	data     map[string]any
}

func (e event) kind() string { return cmp.Or(e.name, fmt.Sprint(e.data["kind"])) }

// state is the status of a task-status, in either form.
func (e event) state() string {
	if object, ok := e.data["status"].(map[string]any); ok {
		return fmt.Sprint(object["state"])
	}
	return fmt.Sprint(e.data["status"])
}

func open(runs door.Runs) http.Handler {
	return looopy.New(door.New(door.Config{Runs: runs, Jobs: []messages.JobInfo{{Name: "chat"}}, Open: files}))
}

// files holds every file.
func files(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
	return struct {
		io.ReadSeeker
		io.Closer
	}{strings.NewReader("whole"), io.NopCloser(nil)}, nil
}

// ask sends a request as the principal, and returns the status and the events.
func ask(t *testing.T, s http.Handler, method, target, body string, header ...string) (int, []event) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Name: "ada", Scopes: []auth.Scope{auth.Admin}})))
	var all []event
	for frame := range strings.SplitSeq(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n") {
		var e event
		for line := range strings.Lines(frame) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.data); err != nil {
					t.Fatalf("%v in %s", err, value)
				}
			}
		}
		all = append(all, e)
	}
	return w.Code, all
}

// tell streams a story, and goes on with its answer where it asks.
func tell(t *testing.T, s http.Handler, story, framing string) []event {
	t.Helper()
	target := looopy.Path + framing
	_, all := ask(t, s, http.MethodPost, target, fmt.Sprintf(`{"message":%q,"contextId":"c-1"}`, story))
	if last := all[len(all)-1]; last.state() == "waiting-input" {
		_, more := ask(t, s, http.MethodPost, target, `{"contextId":"c-1","inputs":[{"inputId":"q1","value":"main"}]}`)
		all = append(all, more...)
	}
	return all
}

// held is what a client has at the end.
type held struct {
	Status, Cause             string
	Said                      string // all deltas
	Texts, Thoughts, Children []string
	Tools                     map[string]string
	Files                     map[string]string
	Questions                 []string
}

// project is what the events leave a client with. Its texts are what content-complete says, and a text without one.
func project(events []event) (h held) {
	h.Tools, h.Files = map[string]string{}, map[string]string{}
	open := ""
	for _, e := range events {
		text := func(name string) string {
			if e.data[name] == nil {
				return ""
			}
			return fmt.Sprint(e.data[name])
		}
		switch e.kind() {
		case "content-delta":
			open, h.Said = open+text("content"), h.Said+text("delta")
		case "content-complete":
			h.Texts, open = append(h.Texts, text("content")), ""
		case "thought-stream":
			h.Thoughts = append(h.Thoughts, text("thought"))
		case "tool-complete":
			h.Tools[text("toolName")+" "+text("toolCallId")] = cmp.Or(text("error"), text("result"))
		case "file-write":
			h.Files[text("artifactId")] = text("data")
		case "input-required":
			h.Questions = append(h.Questions, text("prompt"))
		case "subtask-created":
			h.Children = append(h.Children, text("agentId"))
		case "task-complete":
			h.Status = "completed"
		case "task-status":
			h.Status = e.state()
			if m, ok := e.data["metadata"].(map[string]any); ok && m["reason"] != nil {
				h.Cause = fmt.Sprint(m["reason"])
			}
		}
	}
	if open != "" {
		h.Texts = append(h.Texts, open)
	}
	return h
}

// wanted is the same of the log.
func wanted(story stories.Story) (h held) {
	state := story.State()
	h.Tools, h.Files = map[string]string{}, map[string]string{}
	h.Status = string(state.Status)
	if state.End != nil {
		h.Cause = string(state.End.Cause)
	}
	for _, s := range state.Streams {
		if strings.HasPrefix(s.Name, "answer") && !s.Thought {
			h.Texts = append(h.Texts, s.Text())
		} else if s.Thought {
			h.Thoughts = append(h.Thoughts, s.Text())
		}
	}
	for _, e := range story.Events {
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			h.Tools[b.Tool+" "+b.Call] = "the call has no result"
		case messages.ToolCompleted:
			for name := range h.Tools {
				if strings.HasSuffix(name, " "+b.Call) && b.Error != nil {
					h.Tools[name] = b.Error.Message
				} else if strings.HasSuffix(name, " "+b.Call) {
					h.Tools[name] = strings.Trim(string(b.Result), `"`)
				}
			}
		case messages.InputRequired:
			h.Questions = append(h.Questions, b.Prompt)
		case messages.ChildStarted:
			h.Children = append(h.Children, b.Job)
		}
	}
	for _, a := range state.Artifacts {
		if !a.Partial {
			h.Files[a.Name] = "whole"
		}
	}
	return h
}

// Every story leaves a client with what its log says, in both framings.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		for _, framing := range []string{"", "?framing=named"} {
			events := tell(t, open(&stories.Teller{}), story.Name, framing)
			got, want := project(events), wanted(story)
			if got.Said = ""; !reflect.DeepEqual(got, want) {
				t.Errorf("%s%s: the client has\n%+v, want\n%+v", story.Name, framing, got, want)
			}
			if events[0].kind() != "task-created" {
				t.Errorf("%s: the stream begins with %s", story.Name, events[0].kind())
			}
			last := events[len(events)-1]
			if last.kind() != "task-complete" && last.kind() != "task-status" {
				t.Errorf("%s: the stream ends with %s", story.Name, last.kind())
			}
		}
	}
}

// L2: by default data holds the whole event, for clients that read messages; named events leave out what is elsewhere.
func TestL2Framings(t *testing.T) {
	for _, named := range []bool{false, true} {
		target := looopy.Path
		if named {
			target += "?framing=named"
		}
		_, events := ask(t, open(&stories.Teller{}), http.MethodPost, target, `{"message":"tool error","contextId":"c-1"}`)
		for _, e := range events {
			_, object := e.data["status"].(map[string]any)
			if named != (e.name != "") || named == (e.data["kind"] != nil) || named == (e.data["contextId"] != nil) ||
				e.kind() == "task-status" && object == named || e.data["taskId"] == nil || e.data["timestamp"] == nil {
				t.Errorf("named %v: %+v", named, e)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	s := open(&stories.Teller{})
	for _, c := range []struct {
		method, target, body string
		want                 int
	}{
		{http.MethodGet, looopy.Path, "", 400},
		{http.MethodGet, looopy.Path + "?lastEventId=c-1-77", "", 400},
		{http.MethodGet, looopy.Path + "?contextId=nobody", "", 204},
		{http.MethodPost, looopy.Path, `{"message":"plain"}`, 400},
		{http.MethodPost, looopy.Path, `{"contextId":"c"}`, 400},
		{http.MethodPost, looopy.Path, `{"contextId":"c","inputs":[{"inputId":"q"}]}`, 404},
		{http.MethodPost, looopy.Path, `{`, 400},
		{http.MethodPut, looopy.Path, ``, 405},
		{http.MethodGet, "/api/sse/other", ``, 404},
	} {
		if code, _ := ask(t, s, c.method, c.target, c.body); code != c.want {
			t.Errorf("%s %s %s answers %d, want %d", c.method, c.target, c.body, code, c.want)
		}
	}
}

var base64url = base64.RawURLEncoding

// encrypt does what a client of Looopy does with a credential and the key of an event.
func encrypt(t *testing.T, key map[string]any, authID, secret string) string {
	t.Helper()
	coordinate := func(name string) []byte {
		b, err := base64url.DecodeString(fmt.Sprint(key[name]))
		must(t, err)
		return b
	}
	public, err := ecdh.P256().NewPublicKey(slices.Concat([]byte{4}, coordinate("x"), coordinate("y")))
	must(t, err)
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	must(t, err)
	shared, err := own.ECDH(public)
	must(t, err)
	point := own.PublicKey().Bytes()
	header, err := json.Marshal(map[string]any{"alg": "ECDH-ES", "enc": "A256GCM", "kid": key["kid"], "authId": authID,
		"contextId": "c-1", "epk": map[string]string{"kty": "EC", "crv": "P-256", "x": base64url.EncodeToString(point[1:33]),
			"y": base64url.EncodeToString(point[33:])}})
	must(t, err)
	derived := sha256.Sum256(slices.Concat([]byte{0, 0, 0, 1}, shared, []byte{0, 0, 0, 7}, []byte("A256GCM"), make([]byte, 8),
		[]byte{0, 0, 1, 0}))
	block, err := aes.NewCipher(derived[:])
	must(t, err)
	gcm, err := cipher.NewGCM(block)
	must(t, err)
	protected, iv := base64url.EncodeToString(header), make([]byte, 12)
	sealed := gcm.Seal(nil, iv, []byte(secret), []byte(protected))
	text, tag := sealed[:len(secret)], sealed[len(secret):]
	return fmt.Sprintf("%s..%s.%s.%s", protected, base64url.EncodeToString(iv), base64url.EncodeToString(text),
		base64url.EncodeToString(tag))
}

// L8: a credential may be encrypted to the key of the event that asks for it, and to no other.
func TestL8EncryptedCredentials(t *testing.T) {
	inside(t, func(t *testing.T, s http.Handler) {
		_, events := ask(t, s, http.MethodPost, looopy.Path, `{"message":"secret below","contextId":"c-1"}`)
		var asked event
		for _, e := range events {
			if e.kind() == "auth-required" {
				asked = e
			}
		}
		key, _ := asked.data["encryptionKey"].(map[string]any)
		id := fmt.Sprint(asked.data["authId"])
		post := func(authID string) (int, []event) {
			return ask(t, s, http.MethodPost, looopy.Path, fmt.Sprintf(`{"contextId":"c-1","credentials":[{"authId":%q,"credential":%q}]}`,
				id, encrypt(t, key, authID, "blue")))
		}
		if code, _ := post("other"); code != http.StatusBadRequest && code != http.StatusUnprocessableEntity {
			t.Errorf("a credential for another question is answered with %d", code)
		}
		_, more := post(id)
		if last := more[len(more)-1]; last.data["content"] != "below: 4" {
			t.Errorf("the turn ends with %+v", last)
		}
	})
}

var must = fatal.IfError
