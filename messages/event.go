package messages

import (
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// RunID names a run: "r_" and 26 base32 characters (128 random bits); a sub-run adds ".c1", ".c2" and so on to its
// parent's id. It is safe in a URL and in a file name.
type RunID string

// NewRunID returns a fresh id with at least 128 random bits.
func NewRunID() RunID { return RunID("r_" + strings.ToLower(rand.Text())) }

// Event is one fact about a run, numbered in order.
type Event struct {
	// RunID is the run that the event is about.
	RunID RunID
	// Seq is the event's number, from 1. Only the run assigns it.
	Seq uint64
	// From and Seq are the first and the last number that this event stands for. They are equal, except for a merged
	// delta and for the event that recovery writes.
	From uint64
	// Time is when the event was recorded, in UTC. For a merged delta it is the time of the last part.
	Time time.Time
	// Message is one short sentence for people. The State does not depend on it.
	Message string
	// Body is the content; its type determines the Kind.
	Body Body
	// cache holds the wire form; all copies of the event share it.
	cache *Wire
}

// Body is the content of an event: one of the body types of [Kinds], or [Unknown]. Other packages cannot add one.
type Body interface {
	info() *KindInfo
}

// Kind returns the kind of the event's body, or "" when it has none.
func (e Event) Kind() Kind { return KindOf(e.Body) }

// KindOf returns the kind of the body, or "" for nil.
func KindOf(b Body) Kind {
	if b == nil {
		return ""
	}
	if u, ok := b.(Unknown); ok {
		return u.Type
	}
	return b.info().Kind
}

// IsDelta reports whether the event may be merged with its neighbours.
func (e Event) IsDelta() bool { return e.Body != nil && e.Body.info().Level == Delta }

// IsTerminal reports whether the event ends its run.
func (e Event) IsTerminal() bool { return e.Body != nil && e.Body.info().ending != nil }

// itemOverhead is the assumed size of an element of a list or map, without its texts.
const itemOverhead = 64

// eventOverhead is the assumed size of an event without its texts: the struct, its body and its place in a slice.
const eventOverhead = 192

// Size estimates the memory of the event in bytes, for the limits of a log.
func (e Event) Size() int {
	n := eventOverhead + len(e.RunID) + len(e.Message)
	switch b := e.Body.(type) { // most events are one of these
	case TextDelta:
		return n + len(b.Stream) + len(b.Task) + len(b.Text) + len(b.MediaType)
	case ThoughtDelta:
		return n + len(b.Stream) + len(b.Task) + len(b.Text) + len(b.MediaType)
	}
	return n + sizeOf(reflect.ValueOf(e.Body))
}

// sizeOf counts the bytes that a value refers to: texts, raw JSON, and the elements of lists.
func sizeOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		return sizeOf(v.Elem())
	case reflect.Struct:
		for i := v.NumField() - 1; i >= 0; i-- { // Value.Fields would make a StructField of each
			n += sizeOf(v.Field(i))
		}
	case reflect.Slice:
		switch element := v.Type().Elem(); element.Kind() {
		case reflect.Uint8, reflect.Int:
			return v.Len() * int(element.Size())
		}
		for i := range v.Len() {
			n += itemOverhead + sizeOf(v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			n += itemOverhead + sizeOf(i.Key()) + sizeOf(i.Value())
		}
	}
	return n
}

// A recording has the events of a run and its sub-runs, a line each, and a RecordedInput for each file that the run has
// read.

// RecordedInput describes a file that the run has read. The file is kept beside the recording.
type RecordedInput struct {
	Name   string `json:"input"`
	SHA256 string `json:"sha256"`
}

// RecordInput returns the description of the file, which holds data.
func RecordInput(file string, data []byte) RecordedInput {
	return RecordedInput{filepath.Base(file), Digest(string(data))}
}

// RecordedLine decodes a line of a recording: a RecordedInput if in has a name, and otherwise an event.
func RecordedLine(line []byte) (in RecordedInput, e Event, err error) {
	if json.Unmarshal(line, &in) == nil && in.Name != "" {
		return in, e, nil
	}
	return RecordedInput{}, e, json.Unmarshal(line, &e)
}
