package testkit

import (
	"cmp"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// ModelFault is one way in which a server fails or seems to fail, and how a call must end.
type ModelFault struct {
	Name string
	// Answers are the answers to the requests in order. The last one also answers all later requests.
	Answers [][]Piece
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

// Break makes the server fail in this way from now on.
func (m *Model) Break(f ModelFault) {
	last := len(f.Answers) - 1
	for _, pieces := range f.Answers[:last] {
		m.Answer(pieces...)
	}
	m.Always(f.Answers[last]...)
}

// ModelFaults lists all faults. Their names are unique.
func ModelFaults() []ModelFault {
	var list []ModelFault
	list = append(list, cutFaults()...)
	list = append(list, endFaults()...)
	list = append(list, errorFaults()...)
	list = append(list, statusFaults()...)
	return append(list, silenceFaults()...)
}

const (
	strict  = "strict"
	generic = "generic"
	noEnd   = "ended without terminator"
)

// causing sets the cause of the faults that do not complete, and the default profile.
func causing(cause messages.Code, list []ModelFault) []ModelFault {
	for i := range list {
		f := &list[i]
		f.Profile = cmp.Or(f.Profile, strict)
		if f.Signal == "" {
			f.Cause = cmp.Or(f.Cause, cause)
		}
	}
	return list
}

func answers(pieces ...Piece) [][]Piece { return [][]Piece{pieces} }

func fine() []Piece { return []Piece{Role(), Text("fine"), Finish("stop"), Done()} }

// cutFaults close the connection before the end of the answer.
func cutFaults() []ModelFault {
	half := `data: {"choices":[{"index":0,"delta":{"content":"lo`
	return causing(messages.CauseTransportClosed, []ModelFault{
		{Name: "cut before the header", Answers: answers(Cut())},
		{Name: "reset before the header", Answers: answers(Reset())},
		{Name: "no HTTP", Answers: answers(Wire("SSH-2.0-OpenSSH_9.6\r\n"), Cut())},
		{Name: "cut before the first token", Answers: answers(Head(), Role(), Cut())},
		{Name: "cut mid-answer", Answers: answers(Text("Hel"), Cut()), Profile: generic, Text: "Hel"},
		{Name: "cut mid-frame", Answers: answers(Text("Hel"), Send(half), Cut()), Profile: generic, Text: "Hel"},
		{Name: "last chunk mid-frame", Answers: answers(Text("Hel"), Send(half)), Profile: generic, Text: "Hel"},
		{Name: "reset mid-answer", Answers: answers(Text("Hel"), Reset()), Text: "Hel"},
		{Name: "cut after finish", Answers: answers(Text("Hello"), Finish("stop"), Cut()), Profile: generic, Text: "Hello"},
		{Name: "reset after finish", Answers: answers(Text("Hello"), Finish("stop"), Reset()), Profile: generic,
			Text: "Hello"},
		{Name: "shorter than declared", Answers: answers(Length(100000), Text("Hello"), Finish("stop"), Cut()),
			Profile: generic, Text: "Hello"},
		{Name: "bad chunk size", Answers: answers(Text("Hel"), Wire("zz\r\n"), Cut()), Text: "Hel"},
		{Name: "closed between requests", Answers: [][]Piece{fine(), {Cut()}, fine()}, Calls: 2, Text: "fine",
			Signal: "done"}, // without a retry: it is sent again on a new connection
	})
}

// endFaults complete the HTTP body, but not the stream, or send more after its end.
func endFaults() []ModelFault {
	return causing(messages.CauseTransportClosed, []ModelFault{
		{Name: "end of an unframed body", Answers: answers(Framed(CloseDelimited), Text("Hello"), Finish("stop")),
			Profile: generic, Text: "Hello"},
		{Name: "end of an HTTP/1.0 body", Answers: answers(Framed(HTTP10), Text("Hello"), Finish("stop")),
			Profile: generic, Text: "Hello"},
		{Name: "no terminator", Answers: answers(Text("Hello"), Finish("stop")), Text: "Hello", Message: noEnd},
		{Name: "no terminator, no finish", Answers: answers(Text("Hel")), Profile: generic, Text: "Hel", Message: noEnd},
		{Name: "no terminator of a generic server", Answers: answers(Text("Hello"), Finish("stop")), Profile: generic,
			Text: "Hello", Signal: "eof+finish"},
		{Name: "empty body", Answers: answers(Framed(ContentLength), Head()), Message: noEnd},
		{Name: "keep-alives only", Answers: answers(comments(200)...), Message: noEnd},
		{Name: "[DONE] without output", Answers: answers(Role(), Finish("stop"), Done()),
			Cause: messages.CauseEmptyCompletion},
		{Name: "double [DONE]", Answers: answers(append(fine(), Done())...), Text: "fine", Signal: "done"},
		{Name: "error after [DONE]", Answers: answers(append(fine(), ErrorFrame("too late"))...), Text: "fine",
			Signal: "done"},
		{Name: "reset after [DONE]", Answers: answers(append(fine(), Reset())...), Text: "fine", Signal: "done"},
		{Name: "silence after [DONE]", Answers: answers(append(fine(), Stall())...), Text: "fine", Signal: "done"},
		{Name: "wrong content type", Answers: answers(append([]Piece{Header("Content-Type", "text/plain")},
			fine()...)...), Text: "fine", Signal: "done"},
		{Name: "truncated by length", Answers: answers(Text("Hel"), Finish("length"), Done()), Text: "Hel",
			Signal: "done", Truncated: true},
		{Name: "content filter", Answers: answers(Text("Hel"), Finish("content_filter"), Done()), Text: "Hel",
			Signal: "done", Filtered: true},
	})
}

// errorFaults are errors inside a stream.
func errorFaults() []ModelFault {
	boom := errorBody("boom", "server_error", "")
	return causing(messages.CauseProviderError, []ModelFault{
		{Name: "error frame", Answers: answers(Text("Hel"), ErrorFrame("boom")), Text: "Hel", Message: "boom"},
		{Name: "error frame, then [DONE]", Answers: answers(Text("Hel"), ErrorFrame("boom"), Done()), Text: "Hel",
			Message: "boom"},
		{Name: "error frame after comments", Answers: answers(Comment("ping"), Text("Hel"), Comment("ping"),
			ErrorFrame("boom")), Text: "Hel", Message: "boom"},
		{Name: "event: error", Answers: answers(Text("Hel"), Event("error", boom)), Text: "Hel", Message: "boom"},
		{Name: "error field", Answers: answers(Send(`error: {"code":500,"message":"boom"}`+"\n\n"), Done()),
			Message: "boom"},
		{Name: "error frame, then silence", Answers: answers(Text("Hel"), Send("data: "+boom+"\n"), Stall()),
			Text: "Hel", Message: "boom"},
		{Name: "undecodable frame", Answers: answers(Text("Hel"), Frame(`{"choices":[{]}`), Finish("stop"), Done()),
			Text: "Hel", Message: "protocol error"},
		{Name: "finish_reason error", Answers: answers(Text("Hel"), Finish("error"), Done()), Text: "Hel"},
	})
}

// statusFaults are refusals, and answers that are not a stream.
func statusFaults() []ModelFault {
	busy := []Piece{JSON(503, errorBody("overloaded", "server_error", ""))}
	return causing(messages.CauseProviderError, []ModelFault{
		{Name: "HTML at 200", Answers: answers(Status(200, "text/html", "<html><body>Sign in</body></html>"))},
		{Name: "JSON error at 200", Answers: answers(JSON(200, `{"error":"boom"}`)), Message: "boom"},
		{Name: "400 with a string", Answers: answers(JSON(400, `{"error":"boom"}`)), Message: "http 400: boom"},
		{Name: "401", Answers: answers(JSON(401, errorBody("Incorrect API key provided.", "invalid_request_error",
			"invalid_api_key"))), Message: "http 401"},
		{Name: "404 without a body", Answers: answers(Status(404, "text/plain", "")), Message: "http 404"},
		{Name: "429, then success", Answers: [][]Piece{{Header("Retry-After", "0"),
			JSON(429, errorBody("slow down", "rate_limit_error", "rate_limit_exceeded"))}, fine()}, Message: "slow down",
			Retries: 1},
		{Name: "503 thrice", Answers: [][]Piece{busy, busy, busy, fine()}, Message: "overloaded", Retries: 3},
		{Name: "502 for ever", Answers: answers(Status(502, "text/html", "<html>Bad gateway</html>")), Message: "http 502"},
	})
}

// silenceFaults last until the client ends the call.
func silenceFaults() []ModelFault {
	return causing(messages.CauseStalled, []ModelFault{
		{Name: "silence before the header", Answers: answers(Stall()), Watchdog: true},
		{Name: "silence after the header", Answers: answers(Head(), Stall()), Watchdog: true},
		{Name: "silence mid-answer", Answers: answers(Text("Hel"), Stall()), Text: "Hel", Watchdog: true},
		{Name: "keep-alives, then silence", Answers: answers(append(comments(200), Stall())...), Watchdog: true},
		{Name: "keep-alives mid-answer", Answers: answers(Text("Hel"), Comments(5*time.Millisecond)), Text: "Hel",
			Watchdog: true},
	})
}

func comments(n int) []Piece {
	var pieces []Piece
	for range n {
		pieces = append(pieces, Comment("keep-alive"))
	}
	return pieces
}
