package llm_test

import (
	"cmp"
	"slices"
	"time"

	kit "github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
)

// modelFault is one way in which a server fails or seems to fail, and how a call must end.
type modelFault struct {
	Name string
	// Answers are the answers to the requests in order. The last one also answers all later requests.
	Answers [][]kit.Piece
	Profile string // of the client: "strict" or "generic"
	// Cause is the cause of a call without retries; "" for a completed call.
	Cause messages.Code
	// Text is the text that the reader has received by then.
	Text                string
	Signal              string // of a completed call: "done" or "eof+finish"
	Truncated, Filtered bool
	Message             string // a part of the verdict's message; may be empty
	// Retries is how many retries the client needs for the call to complete with the text "fine". It is 0 if the call
	// never completes, or must not be retried because text has reached the reader.
	Retries int
	// Calls is how many calls the client makes, one after another on one connection; 0 means 1. The calls before the
	// last complete with the text "fine".
	Calls int
	// Watchdog says that only the client's timeout ends the call.
	Watchdog bool
}

// breaks makes the server fail in this way from now on.
func (f modelFault) breaks(m *kit.Model) {
	last := len(f.Answers) - 1
	for _, pieces := range f.Answers[:last] {
		m.Answer(pieces...)
	}
	m.Always(f.Answers[last]...)
}

// modelFaults lists all faults. Their names are unique.
func modelFaults() []modelFault {
	return slices.Concat(cutFaults(), endFaults(), errorFaults(), statusFaults(), silenceFaults())
}

const (
	strict  = "strict"
	generic = "generic"
	noEnd   = "ended without terminator"
)

// causing sets the cause of the faults that do not complete, and the default profile.
func causing(cause messages.Code, list []modelFault) []modelFault {
	for i := range list {
		f := &list[i]
		f.Profile = cmp.Or(f.Profile, strict)
		if f.Signal == "" {
			f.Cause = cmp.Or(f.Cause, cause)
		}
	}
	return list
}

func answers(pieces ...kit.Piece) [][]kit.Piece { return [][]kit.Piece{pieces} }

func fine() []kit.Piece {
	return []kit.Piece{kit.Role(), kit.Text("fine"), kit.Finish("stop"), kit.Done()}
}

// cutFaults close the connection before the end of the answer.
func cutFaults() []modelFault {
	half := `data: {"choices":[{"index":0,"delta":{"content":"lo`
	return causing(messages.CauseTransportClosed, []modelFault{
		{Name: "cut before the header", Answers: answers(kit.Cut())},
		{Name: "reset before the header", Answers: answers(kit.Reset())},
		{Name: "no HTTP", Answers: answers(kit.Wire("SSH-2.0-OpenSSH_9.6\r\n"), kit.Cut())},
		{Name: "cut before the first token", Answers: answers(kit.Head(), kit.Role(), kit.Cut())},
		{Name: "cut mid-answer", Answers: answers(kit.Text("Hel"), kit.Cut()), Profile: generic, Text: "Hel"},
		{Name: "cut mid-frame", Answers: answers(kit.Text("Hel"), kit.Send(half), kit.Cut()), Profile: generic, Text: "Hel"},
		{Name: "last chunk mid-frame", Answers: answers(kit.Text("Hel"), kit.Send(half)), Profile: generic, Text: "Hel"},
		{Name: "reset mid-answer", Answers: answers(kit.Text("Hel"), kit.Reset()), Text: "Hel"},
		{Name: "cut after finish", Answers: answers(kit.Text("Hello"), kit.Finish("stop"), kit.Cut()), Profile: generic, Text: "Hello"},
		{Name: "reset after finish", Answers: answers(kit.Text("Hello"), kit.Finish("stop"), kit.Reset()), Profile: generic,
			Text: "Hello"},
		{Name: "shorter than declared", Answers: answers(kit.Length(100000), kit.Text("Hello"), kit.Finish("stop"), kit.Cut()),
			Profile: generic, Text: "Hello"},
		{Name: "bad chunk size", Answers: answers(kit.Text("Hel"), kit.Wire("zz\r\n"), kit.Cut()), Text: "Hel"},
		{Name: "closed between requests", Answers: [][]kit.Piece{fine(), {kit.Cut()}, fine()}, Calls: 2, Text: "fine",
			Signal: "done"}, // without a retry: it is sent again on a new connection
	})
}

// endFaults complete the HTTP body, but not the stream, or send more after its end.
func endFaults() []modelFault {
	return causing(messages.CauseTransportClosed, []modelFault{
		{Name: "end of an unframed body", Answers: answers(kit.Framed(kit.CloseDelimited), kit.Text("Hello"), kit.Finish("stop")),
			Profile: generic, Text: "Hello"},
		{Name: "end of an HTTP/1.0 body", Answers: answers(kit.Framed(kit.HTTP10), kit.Text("Hello"), kit.Finish("stop")),
			Profile: generic, Text: "Hello"},
		{Name: "no terminator", Answers: answers(kit.Text("Hello"), kit.Finish("stop")), Text: "Hello", Message: noEnd},
		{Name: "no terminator, no finish", Answers: answers(kit.Text("Hel")), Profile: generic, Text: "Hel", Message: noEnd},
		{Name: "no terminator of a generic server", Answers: answers(kit.Text("Hello"), kit.Finish("stop")), Profile: generic,
			Text: "Hello", Signal: "eof+finish"},
		{Name: "empty body", Answers: answers(kit.Framed(kit.ContentLength), kit.Head()), Message: noEnd},
		{Name: "keep-alives only", Answers: answers(comments(200)...), Message: noEnd},
		{Name: "[DONE] without output", Answers: answers(kit.Role(), kit.Finish("stop"), kit.Done()),
			Cause: messages.CauseEmptyCompletion},
		{Name: "double [DONE]", Answers: answers(append(fine(), kit.Done())...), Text: "fine", Signal: "done"},
		{Name: "error after [DONE]", Answers: answers(append(fine(), kit.ErrorFrame("too late"))...), Text: "fine",
			Signal: "done"},
		{Name: "reset after [DONE]", Answers: answers(append(fine(), kit.Reset())...), Text: "fine", Signal: "done"},
		{Name: "silence after [DONE]", Answers: answers(append(fine(), kit.Stall())...), Text: "fine", Signal: "done"},
		{Name: "wrong content type", Answers: answers(append([]kit.Piece{kit.Header("Content-Type", "text/plain")},
			fine()...)...), Text: "fine", Signal: "done"},
		{Name: "truncated by length", Answers: answers(kit.Text("Hel"), kit.Finish("length"), kit.Done()), Text: "Hel",
			Signal: "done", Truncated: true},
		{Name: "content filter", Answers: answers(kit.Text("Hel"), kit.Finish("content_filter"), kit.Done()), Text: "Hel",
			Signal: "done", Filtered: true},
	})
}

// errorFaults are errors inside a stream.
func errorFaults() []modelFault {
	boom := `{"error":{"message":"boom","type":"server_error","param":null,"code":null}}`
	return causing(messages.CauseProviderError, []modelFault{
		{Name: "error frame", Answers: answers(kit.Text("Hel"), kit.ErrorFrame("boom")), Text: "Hel", Message: "boom"},
		{Name: "error frame, then [DONE]", Answers: answers(kit.Text("Hel"), kit.ErrorFrame("boom"), kit.Done()), Text: "Hel",
			Message: "boom"},
		{Name: "error frame after comments", Answers: answers(kit.Comment("ping"), kit.Text("Hel"), kit.Comment("ping"),
			kit.ErrorFrame("boom")), Text: "Hel", Message: "boom"},
		{Name: "event: error", Answers: answers(kit.Text("Hel"), kit.Event("error", boom)), Text: "Hel", Message: "boom"},
		{Name: "error field", Answers: answers(kit.Send(`error: {"code":500,"message":"boom"}`+"\n\n"), kit.Done()),
			Message: "boom"},
		{Name: "error frame, then silence", Answers: answers(kit.Text("Hel"), kit.Send("data: "+boom+"\n"), kit.Stall()),
			Text: "Hel", Message: "boom"},
		{Name: "undecodable frame", Answers: answers(kit.Text("Hel"), kit.Frame(`{"choices":[{]}`), kit.Finish("stop"), kit.Done()),
			Text: "Hel", Message: "protocol error"},
		{Name: "finish_reason error", Answers: answers(kit.Text("Hel"), kit.Finish("error"), kit.Done()), Text: "Hel"},
	})
}

// statusFaults are refusals, and answers that are not a stream.
func statusFaults() []modelFault {
	busy := []kit.Piece{kit.JSON(503, `{"error":{"message":"overloaded","type":"server_error","param":null,"code":null}}`)}
	return causing(messages.CauseProviderError, []modelFault{
		{Name: "HTML at 200", Answers: answers(kit.Status(200, "text/html", "<html><body>Sign in</body></html>"))},
		{Name: "JSON error at 200", Answers: answers(kit.JSON(200, `{"error":"boom"}`)), Message: "boom"},
		{Name: "400 with a string", Answers: answers(kit.JSON(400, `{"error":"boom"}`)), Message: "http 400: boom"},
		{Name: "401", Answers: answers(kit.JSON(401, `{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}`)),
			Message: "http 401"},
		{Name: "404 without a body", Answers: answers(kit.Status(404, "text/plain", "")), Message: "http 404"},
		{Name: "429, then success", Answers: [][]kit.Piece{{kit.Header("Retry-After", "0"),
			kit.JSON(429, `{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}`)},
			fine()}, Message: "slow down", Retries: 1},
		{Name: "503 thrice", Answers: [][]kit.Piece{busy, busy, busy, fine()}, Message: "overloaded", Retries: 3},
		{Name: "502 for ever", Answers: answers(kit.Status(502, "text/html", "<html>Bad gateway</html>")), Message: "http 502"},
	})
}

// silenceFaults last until the client ends the call.
func silenceFaults() []modelFault {
	return causing(messages.CauseStalled, []modelFault{
		{Name: "silence before the header", Answers: answers(kit.Stall()), Watchdog: true},
		{Name: "silence after the header", Answers: answers(kit.Head(), kit.Stall()), Watchdog: true},
		{Name: "silence mid-answer", Answers: answers(kit.Text("Hel"), kit.Stall()), Text: "Hel", Watchdog: true},
		{Name: "keep-alives, then silence", Answers: answers(append(comments(200), kit.Stall())...), Watchdog: true},
		{Name: "keep-alives mid-answer", Answers: answers(kit.Text("Hel"), kit.Comments(5*time.Millisecond)), Text: "Hel",
			Watchdog: true},
	})
}

func comments(n int) []kit.Piece {
	var pieces []kit.Piece
	for range n {
		pieces = append(pieces, kit.Comment("keep-alive"))
	}
	return pieces
}
