package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/model/decode"
)

// ServerProfile is what a check of a server has learned. The zero value is that of one of which nothing is known.
type ServerProfile struct {
	Kind    string        `json:"kind,omitempty"`    // one of the Kinds
	Profile model.Profile `json:"profile,omitempty"` // how it ends an answer
	// Thoughts is the dialect of its model's thoughts, as decode.NewThoughts takes it.
	Thoughts string `json:"thoughts,omitempty"`
	// Model is the one whose dialect that is; "" for any.
	Model string `json:"model,omitempty"`
	// Off are fields of a request's body that switch its thoughts off.
	Off map[string]json.RawMessage `json:"off,omitempty"`
	// NoUsage says that stream_options must not be sent.
	NoUsage bool `json:"no_usage,omitempty"`
	// Refuses are fields of a request's body that the server does not take. They are left out: temperature, top_p, seed,
	// stop and whatever a request has as Extra.
	Refuses []string `json:"refuses,omitempty"`
}

// dialect is that of the model's thoughts in the answer to a request with the fields. What one model does says nothing
// of another, and an answer whose thoughts are switched off does not begin inside one.
func (s *ServerProfile) dialect(name string, fields map[string]json.RawMessage) decode.Dialect {
	if s == nil || s.Model != "" && name != "" && name != s.Model {
		return decode.Auto
	}
	for field, value := range s.Off {
		if bytes.Equal(fields[field], value) {
			return decode.Auto
		}
	}
	return decode.Dialect(s.Thoughts)
}

// spared is the request without what the server refuses.
func (s *ServerProfile) spared(r model.Request) model.Request {
	if s == nil || len(s.Refuses) == 0 {
		return r
	}
	r.Extra = maps.Clone(r.Extra)
	for _, field := range s.Refuses {
		delete(r.Extra, field)
	}
	if slices.Contains(s.Refuses, "temperature") {
		r.Temperature = nil
	}
	if slices.Contains(s.Refuses, "top_p") {
		r.TopP = nil
	}
	if slices.Contains(s.Refuses, "seed") {
		r.Seed = nil
	}
	if slices.Contains(s.Refuses, "stop") {
		r.Stop = nil
	}
	return r
}
