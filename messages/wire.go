package messages

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

// WireVersion names the wire form. Within a version, fields and kinds are only added.
const WireVersion = "run-events/1"

// The schema for people is schema/run-events-1.json.
//
//go:embed schema/run-events-1.json.gz
var schema []byte

// Schema returns the JSON Schema (2020-12) of an event's wire form.
func Schema() []byte {
	r, err := gzip.NewReader(bytes.NewReader(schema)) // package packed does the same, and would be one more layer
	var text []byte
	if err == nil {
		text, err = io.ReadAll(r)
	}
	if err != nil {
		panic(err)
	}
	return text
}

// wireHead is the wire form without its last field, the payload. The order of fields is fixed, so that an event
// always has the same bytes.
type wireHead struct {
	RunID   RunID     `json:"run_id"`
	Seq     uint64    `json:"seq"`
	From    uint64    `json:"from,omitempty"`
	TS      time.Time `json:"ts"`
	Type    Kind      `json:"type"`
	Message string    `json:"message,omitempty"`
}

// wireEvent is the wire form of an event.
type wireEvent struct {
	wireHead
	Payload json.RawMessage `json:"payload"`
}

// Wire caches the wire form of one event. The zero Wire is empty and safe for concurrent use. It is small, because
// every event of a live run has one.
type Wire struct{ line atomic.Pointer[[]byte] }

// Sharing returns the event with a cache that all its copies share. Call [Event.Unshared] before changing a copy.
func (e Event) Sharing(w *Wire) Event {
	e.cache = w
	return e
}

// Unshared returns the event without the cache.
func (e Event) Unshared() Event { return e.Sharing(nil) }

// JSON returns the wire form, which the caller must not change. It omits From if that equals Seq. The payload of an
// unknown kind stays as it is, byte for byte.
func (e Event) JSON() ([]byte, error) {
	if e.cache == nil {
		return e.encode()
	}
	if line := e.cache.line.Load(); line != nil {
		return *line, nil
	}
	line, err := e.encode()
	if err != nil {
		return nil, err
	}
	line = slices.Clip(line)
	e.cache.line.CompareAndSwap(nil, &line)
	return *e.cache.line.Load(), nil // another caller may have been faster
}

// MarshalJSON returns the wire form. json.Marshal then compacts and escapes the payload of an unknown kind.
func (e Event) MarshalJSON() ([]byte, error) { return e.JSON() }

// encode writes the wire form.
func (e Event) encode() ([]byte, error) {
	if e.Body == nil {
		return nil, Errorf(CauseInvalidInput, "event %d has no body", e.Seq)
	}
	body, input := e.Body, json.RawMessage(nil)
	if q, ok := body.(RunQueued); ok && len(q.Input) > longInput && !bytes.ContainsAny(q.Input, "\r\n") && json.Valid(q.Input) {
		input, q.Input = q.Input, json.RawMessage(`0`)
		body = q
	}
	payload, err := encodeBody(body)
	if err != nil {
		return nil, err
	}
	head := wireHead{RunID: e.RunID, Seq: e.Seq, TS: e.Time.UTC(), Type: e.Kind(), Message: e.Message}
	if e.From != e.Seq {
		head.From = e.From
	}
	line, err := json.Marshal(head)
	if err != nil || len(payload) == 0 {
		return line, err
	}
	line, after := append(line[:len(line)-1], `,"payload":`...), []byte(nil)
	if input != nil {
		at := bytes.Index(payload, []byte(`"input":0`)) + len(`"input":`)
		payload, after = payload[:at], payload[at+1:]
	}
	return slices.Concat(line, payload, input, after, []byte(`}`)), nil
}

// longInput is the size in bytes above which encode copies an input of one line once, as it is. encoding/json copies it
// three times.
const longInput = 64 << 10

// UnmarshalJSON reads the wire form. An event of an unknown kind has the body [Unknown].
func (e *Event) UnmarshalJSON(data []byte) error {
	if own, ok := scan(data); ok {
		*e = own
		return e.checkNames(data)
	}
	var w wireEvent
	if err := json.Unmarshal(data, &w); err != nil {
		return Errorf(CauseInvalidInput, "not an event: %v", err)
	}
	if w.RunID == "" || w.Seq == 0 || w.Type == "" {
		return Errorf(CauseInvalidInput, "not an event: run_id, seq and type are required")
	}
	body, err := decode(w.Type, w.Payload)
	if err != nil {
		return Errorf(CauseInvalidInput, "event %d (%s): %v", w.Seq, w.Type, err)
	}
	*e = w.event(body)
	return e.checkNames(data)
}

// checkNames refuses names that could steer a terminal in an event that was read from data.
func (e *Event) checkNames(data []byte) error {
	if !maySteer(data) {
		return nil
	}
	if err := CheckNames(e.Body); err != nil {
		return Errorf(CauseInvalidInput, "event %d (%s): %v", e.Seq, e.Kind(), err)
	}
	return nil
}

// UnmarshalKept reads what [Event.JSON] returned, and keeps the line for the next call of JSON, because readers of a
// journal pass most events on. Nobody may change the line. Call [Event.Unshared] before changing the event.
func (e *Event) UnmarshalKept(line []byte) error {
	if err := e.UnmarshalJSON(line); err != nil {
		return err
	}
	kept := &struct {
		wire Wire
		line []byte
	}{line: line}
	kept.wire.line.Store(&kept.line)
	e.cache = &kept.wire
	return nil
}

func (w *wireEvent) event(body Body) Event {
	e := Event{RunID: w.RunID, Seq: w.Seq, From: w.From, Time: w.TS.UTC(), Message: w.Message, Body: body}
	e.From = cmp.Or(e.From, e.Seq)
	return e
}

// scan reads the wire form as encode writes it, if no string has an escape. Reading a journal is mostly this.
// encoding/json reads everything else.
func scan(data []byte) (Event, bool) {
	var w wireEvent
	s := scanner{rest: data}
	w.RunID = RunID(s.text(`{"run_id":"`))
	w.Seq = s.number(`,"seq":`)
	if s.at(`,"from":`) {
		w.From = s.number(`,"from":`)
	}
	ts := s.text(`,"ts":"`)
	w.Type = Kind(s.text(`,"type":"`))
	if s.at(`,"message":"`) {
		w.Message = s.text(`,"message":"`)
	}
	payload, found := bytes.CutPrefix(s.rest, []byte(`,"payload":`))
	payload, closed := bytes.CutSuffix(payload, []byte("}"))
	if s.failed || !found || !closed || w.RunID == "" || w.Seq == 0 || !w.Type.Known() || w.TS.UnmarshalText([]byte(ts)) != nil {
		return Event{}, false
	}
	body, err := decode(w.Type, payload)
	return w.event(body), err == nil
}

// scanner reads the fields of a line one after the other. failed stays true after the first mismatch.
type scanner struct {
	rest   []byte
	failed bool
}

func (s *scanner) at(name string) bool { return bytes.HasPrefix(s.rest, []byte(name)) }

// skip passes over the field's name.
func (s *scanner) skip(name string) {
	s.failed = s.failed || !s.at(name)
	if !s.failed {
		s.rest = s.rest[len(name):]
	}
}

// text reads a string of printable ASCII without escapes, and its closing quote.
func (s *scanner) text(name string) string {
	s.skip(name)
	for i, c := range s.rest {
		switch {
		case s.failed:
		case c == '"':
			text := string(s.rest[:i])
			s.rest = s.rest[i+1:]
			return text
		case c < ' ' || c > '~' || c == '\\':
			s.failed = true
		}
	}
	s.failed = true
	return ""
}

// number reads a number of at most 18 digits.
func (s *scanner) number(name string) (n uint64) {
	s.skip(name)
	digits := 0
	for digits < len(s.rest) && digits < 19 && s.rest[digits] >= '0' && s.rest[digits] <= '9' {
		n = 10*n + uint64(s.rest[digits]-'0')
		digits++
	}
	if s.failed || digits == 0 || digits == 19 || s.rest[0] == '0' {
		s.failed = true
		return 0
	}
	s.rest = s.rest[digits:]
	return n
}

// encodeBody writes the payload.
func encodeBody(b Body) ([]byte, error) {
	if u, ok := b.(Unknown); ok {
		if len(u.Payload) > 0 && !json.Valid(u.Payload) {
			return nil, Errorf(CauseInvalidInput, "the payload of a %s is not JSON", u.Type)
		}
		return u.Payload, nil
	}
	if wire := rowOf(b).wire; wire != nil {
		b = wire(b)
	}
	return json.Marshal(b)
}

func decode(k Kind, payload []byte) (Body, error) {
	if row := kindIndex[k]; row != nil {
		return row.decode(payload)
	}
	return Unknown{Type: k, Payload: append(json.RawMessage(nil), payload...)}, nil
}

// wirePart is a part of a merged event.
type wirePart struct {
	Type    Kind            `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// wireMerged is the wire form of a merged event.
type wireMerged struct {
	Parts []wirePart `json:"parts"`
}

// MarshalJSON writes the parts with their kinds.
func (m Merged) MarshalJSON() ([]byte, error) {
	w := wireMerged{make([]wirePart, len(m.Parts))}
	for i, p := range m.Parts {
		payload, err := encodeBody(p)
		if err != nil {
			return nil, err
		}
		w.Parts[i] = wirePart{KindOf(p), payload}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the parts, which are deltas other than merged ones.
func (m *Merged) UnmarshalJSON(data []byte) error {
	var w wireMerged
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	m.Parts = make([]Body, len(w.Parts))
	for i, p := range w.Parts {
		b, err := decode(p.Type, p.Payload)
		if err != nil {
			return err
		}
		if _, ok := keyOf(b); !ok {
			return fmt.Errorf("part %d of kind %q cannot be merged", i, p.Type)
		}
		m.Parts[i] = b
	}
	return nil
}

// Check returns an invalid_input error, which names the field, if a journal could not write the body and read the
// same back: for a text that is not UTF-8, a name that could steer a terminal, raw JSON that is not JSON, or a number that JSON does not have.
func Check(b Body) error {
	if field, why := unwritable(reflect.ValueOf(b), false); why != "" {
		return InvalidInput("the %s of a %s is %s", field, KindOf(b), why)
	}
	return nil
}

var (
	rawJSON     = reflect.TypeFor[json.RawMessage]()
	instant     = reflect.TypeFor[time.Time]()
	bytesOfText = reflect.TypeFor[text]()
	// An event nests its raw JSON this deep, and encoding/json reads at most 10,000 levels.
	within, closing = bytes.Repeat([]byte("["), 8), bytes.Repeat([]byte("]"), 8)
)

// unwritable returns the name of a field that cannot be written, and the reason; "" if there is none. In a value that
// was read, raw JSON is valid.
func unwritable(v reflect.Value, read bool) (field, why string) {
	switch k := v.Kind(); {
	case read && v.IsValid() && (v.Type() == rawJSON || v.Type() == instant || v.Type() == bytesOfText):
	case v.IsValid() && v.Type() == rawJSON:
		// encoding/json accepts bytes in strings that are not UTF-8, and writes them again.
		raw := v.Bytes()
		deep := bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > 9000
		if len(raw) > 0 && (!utf8.Valid(raw) || !json.Valid(raw) || deep && !json.Valid(slices.Concat(within, raw, closing))) {
			return "value", "not JSON in UTF-8, or nested too deep"
		}
	case k == reflect.String && !utf8.ValidString(v.String()):
		return "value", "not UTF-8"
	case k == reflect.String && nameSteers(v.String()):
		return "value", steers
	case k == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return "value", "no number that JSON has"
	case k == reflect.Pointer, k == reflect.Interface:
		return unwritable(v.Elem(), read)
	case k == reflect.Slice:
		for i := 0; i < v.Len() && why == ""; i++ {
			field, why = unwritable(v.Index(i), read)
		}
	case k == reflect.Map:
		for i := v.MapRange(); i.Next() && why == ""; {
			if field, why = unwritable(i.Key(), read); why == "" {
				field, why = unwritable(i.Value(), read)
			}
		}
	case k == reflect.Struct:
		for i := 0; i < v.NumField() && why == ""; i++ {
			if field, why = unwritable(v.Field(i), read); why != "" && field == "value" {
				f := v.Type().Field(i)
				if field = nameOf(f); why == steers && f.Tag.Get("text") == "any" {
					field, why = "", ""
				}
			}
		}
	}
	return field, why
}

// nameOf returns the field's name in JSON.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return strings.ToLower(f.Name)
	}
	return name
}

// isSteering reports whether a terminal acts on the character instead of showing it: a control character, or one that
// changes the direction of writing.
func isSteering(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// steers is why a name is refused. Every text of a decoded value is a name, unless its field has the tag text:"any".
const steers = "a name with a control character or one that changes the direction of writing"

// nameSteers reports whether the name has a character that steers a terminal.
func nameSteers(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ', c == 0x7f:
			return true
		case c > 0x7f:
			for _, r := range name[i:] {
				if isSteering(r) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// maySteer reports whether JSON may hold a name that steers: without a check, names of readable ASCII pass.
func maySteer(data []byte) bool {
	for _, c := range data {
		if c == '\\' || c >= 0x7f {
			return true
		}
	}
	return false
}

// CheckNames returns an invalid_input error, which names the field, if a value that was read from JSON has a name that
// could steer a terminal. Answers of servers need it; an [Event] refuses such names by itself.
func CheckNames(v any) error {
	if field, why := unwritable(reflect.ValueOf(v), true); why == steers {
		return InvalidInput("the %s is %s; it is refused", field, why)
	}
	return nil
}

// UnmarshalText reads the id, and refuses one that could steer a terminal.
func (id *RunID) UnmarshalText(text []byte) error {
	*id = RunID(text)
	return CheckNames(*id)
}
