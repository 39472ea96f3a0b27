package model

import (
	"encoding/json"
	"maps"
)

// Reserved are the members of a request that no caller adds, because they would change what lastword reads of the
// answer, or name another server. No model server gets them from a caller.
var Reserved = []string{"messages", "model", "n", "stream", "stream_options",
	"api_key", "api_base", "base_url", "extra_headers", "extra_query", "extra_body"}

// Extra returns the members of an object other than the known ones, as a JSON object; "" if there are none. Members
// that are null count as absent.
func Extra(object json.RawMessage, known ...string) string {
	var rest map[string]json.RawMessage
	_ = json.Unmarshal(object, &rest) // what is no object has no members
	for _, name := range known {
		delete(rest, name)
	}
	maps.DeleteFunc(rest, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	if len(rest) == 0 {
		return ""
	}
	data, _ := json.Marshal(rest) // it was JSON
	return string(data)
}

// Within returns extra with one more member, if the value is not "".
func Within(extra, name, value string) string {
	if value == "" {
		return extra
	}
	one, _ := json.Marshal(map[string]json.RawMessage{name: json.RawMessage(value)})
	if extra == "" {
		return string(one)
	}
	return string(Merged(json.RawMessage(extra), string(one)))
}

// Merged returns an object with the members of extra, which is one of [Extra]. It replaces none, but adds to objects.
func Merged(object json.RawMessage, extra string) json.RawMessage {
	var into, more map[string]json.RawMessage
	if extra == "" || json.Unmarshal(object, &into) != nil || json.Unmarshal([]byte(extra), &more) != nil || into == nil {
		return object
	}
	for name, value := range more {
		if into[name] != nil {
			value = Merged(into[name], string(value))
		}
		into[name] = value
	}
	data, err := json.Marshal(into)
	if err != nil {
		return object
	}
	return data
}
