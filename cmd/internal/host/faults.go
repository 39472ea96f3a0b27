package host

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// AddFaultFlags adds --faults and --enable-faults.
func (f *Flags) AddFaultFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.faultsFile, "faults", "", "YAML `file` of faults to arm at the start; for staging servers")
	flags.BoolVar(&f.enableFaults, "enable-faults", false, "let admins make faults happen to runs, with lastword fault; for staging servers")
}

// faultForm is the JSON Schema of the operator's file of faults.
const faultForm = `{"type": "object", "additionalProperties": false, "required": ["faults"], "properties": {"faults": {
"type": "array", "maxItems": 100, "items": {"type": "object", "additionalProperties": false, "required": ["point"], "properties": {
"point": {"type": "string"}, "job": {"type": "string"}, "task": {"type": "string"}, "at": {"type": "string"},
"probability": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "seed": {"type": "integer", "minimum": 0},
"count": {"type": "integer", "minimum": 0}, "expires": {"type": "string"}, "for": {"type": "string"}}}}}}`

// readFaults creates the fault board if faults may happen, and arms the rules in the operator's file.
func (f *Flags) readFaults() (*fault.Board, error) {
	if f.faultsFile == "" && !f.enableFaults {
		return nil, nil
	}
	board := &fault.Board{Kill: killed}
	if f.faultsFile == "" {
		return board, nil
	}
	text, err := f.readFile("faults", f.faultsFile)
	if err != nil {
		return nil, err
	}
	var file struct{ Faults []json.RawMessage }
	places, wrong, _ := validate.ReadYAML(text, validate.MustCompile([]byte(faultForm)), &file)
	if wrong != nil {
		return nil, misconfigured(f.faultsFile, wrong.Err())
	}
	for i, text := range file.Faults {
		var rule fault.Rule
		if err == nil {
			err = json.Unmarshal(text, &rule)
		}
		if err == nil {
			err = board.Arm(rule)
		}
		if err != nil {
			return nil, misconfigured(f.faultsFile, validate.FileProblems{places.Problem("faults."+strconv.Itoa(i), "%v", err)})
		}
	}
	return board, nil
}

// killed ends this process as abruptly as a power cut.
func killed() {
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Kill() == nil {
		select {}
	}
	os.Exit(137)
}

// FaultOrder is an admin's order: "ls"; "arm" with a rule; or "disarm" with the point of a rule, or without one for
// all.
type FaultOrder struct {
	Action string     `json:"action"`
	Rule   fault.Rule `json:"rule,omitzero"`
}

// FaultLine is a fault point with its rules.
type FaultLine struct {
	fault.Info
	Rules []fault.Armed `json:"rules,omitempty"`
}

// Faults returns the handler for admins, who send a [FaultOrder] and get the fault points.
func (s *Server) Faults() http.Handler {
	return orderHandler(func(_ context.Context, order FaultOrder) (lines []FaultLine, err error) {
		if order.Action == "ls" && !s.jobs.enableFaults {
			return nil, nil
		}
		if err := s.jobs.orderFaults(order); err != nil {
			return nil, err
		}
		armed := s.jobs.faults.List()
		for _, p := range fault.Points() {
			line := FaultLine{Info: p}
			for _, rule := range armed {
				if rule.Point == p.Point {
					line.Rules = append(line.Rules, rule)
				}
			}
			lines = append(lines, line)
		}
		return lines, nil
	})
}

// orderFaults arms or disarms a fault. Only a server that was started with --enable-faults obeys.
func (c *Checked) orderFaults(o FaultOrder) error {
	switch {
	case !c.enableFaults:
		return messages.Errorf(messages.CodeNotFound, "no fault can be armed at this server: it needs lastword serve --enable-faults")
	case o.Action == "arm":
		return c.faults.Arm(o.Rule)
	case o.Action == "disarm":
		if c.faults.Disarm(o.Rule.Point) == 0 && o.Rule.Point != "" {
			return messages.Errorf(messages.CodeNotFound, "%s is not armed", o.Rule.Point)
		}
	case o.Action != "ls":
		return messages.InvalidInput("action is ls, arm or disarm")
	}
	return nil
}

// faultyModel is a connection to a model server that contains the fault points for models.
type faultyModel struct{ http.RoundTripper }

// RoundTrip sends a request, unless a fault hits it.
func (m faultyModel) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if r.Method == http.MethodPost && fault.Hit(ctx, fault.ModelRefuse) != nil {
		r.Body.Close()
		return &http.Response{Status: "503 Service Unavailable", StatusCode: http.StatusServiceUnavailable, Proto: "HTTP/1.1", ProtoMajor: 1,
			ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("injected")), Request: r}, nil
	}
	response, err := m.RoundTripper.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost || response.StatusCode != http.StatusOK {
		return response, err
	}
	var broken func() error
	if fault.Hit(ctx, fault.ModelCut) != nil {
		broken = func() error { return io.ErrUnexpectedEOF }
	} else if fault.Hit(ctx, fault.ModelEnd) != nil {
		broken = func() error { return io.EOF }
	} else if rule := fault.Hit(ctx, fault.ModelStall); rule != nil {
		broken = func() error { rule.Wait(ctx, 0); return context.Cause(ctx) }
	}
	if broken != nil {
		response.Body = &brokenBody{ReadCloser: response.Body, lines: bufio.NewReader(response.Body), fault: broken}
	}
	return response, nil
}

// brokenLines is the number of lines of a response before it breaks: two frames of an event stream.
const brokenLines = 4

// brokenBody is a response body. After its first lines it calls fault, and breaks if that returns an error.
type brokenBody struct {
	io.ReadCloser
	lines *bufio.Reader
	n     int
	rest  []byte
	fault func() error
}

// Read reads a part of one line.
func (b *brokenBody) Read(p []byte) (n int, err error) {
	if len(b.rest) == 0 {
		if b.n++; b.n == brokenLines+1 {
			err = b.fault()
		}
		if err != nil {
			return 0, err
		}
		b.rest, err = b.lines.ReadBytes('\n')
	}
	n = copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) > 0 {
		err = nil
	}
	return n, err
}

// FaultyReaders adds the fault points for readers in front of door.
func (s *Server) FaultyReaders(door http.Handler) http.Handler {
	if s.jobs.faults == nil {
		return door
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, events := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/runs/"), "/events")
		if !events {
			door.ServeHTTP(w, r)
			return
		}
		f := &faultyReader{ResponseWriter: w, ctx: r.Context(), hit: func(p fault.Point) *fault.Armed { return s.system.Fault(messages.RunID(id), p) }}
		if door.ServeHTTP(f, r); f.err != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

// faultyReader is the response to a reader of a run's events, with fault points.
type faultyReader struct {
	http.ResponseWriter
	ctx context.Context
	hit func(fault.Point) *fault.Armed
	err error // set when the connection is broken
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (f *faultyReader) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// Write writes data, unless a fault hits it.
func (f *faultyReader) Write(data []byte) (int, error) {
	if rule := f.hit(fault.ReaderSlow); rule != nil {
		rule.Wait(f.ctx, 100*time.Millisecond)
	}
	if f.err == nil && f.hit(fault.ReaderGone) != nil {
		f.err = io.ErrClosedPipe
	}
	if f.err == nil {
		if rule := f.hit(fault.ReaderStuck); rule != nil {
			rule.Wait(f.ctx, 30*time.Second)
			f.err = os.ErrDeadlineExceeded
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	return f.ResponseWriter.Write(data)
}
