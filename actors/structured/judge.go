package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxProblems     = 20  // that are told
	maxProblemBytes = 300 // of one: it quotes the answer
)

// problems lists all that is wrong with a document, nil where nothing is.
func (f *form) problems(doc []byte) []string {
	value, err := validator.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return []string{"it is not JSON: " + err.Error()}
	}
	var list []string
	for _, key := range repeatedKeys(doc) {
		list = append(list, fmt.Sprintf("at '%s': the key stands there twice", key))
	}
	if err := f.schema.Validate(value); err != nil {
		list = append(list, told(err)...)
	}
	for i, p := range list {
		list[i] = strings.ToValidUTF8(p[:min(len(p), maxProblemBytes)], "")
	}
	return list[:min(len(list), maxProblems)]
}

func told(err error) []string {
	e, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var list []string
	for _, unit := range e.BasicOutput().Errors {
		if unit.Error != nil {
			list = append(list, fmt.Sprintf("at '%s': %s", unit.InstanceLocation, unit.Error))
		}
	}
	return list
}

// repeatedKeys lists the keys that stand twice in an object of a valid document, as deep as a form goes.
func repeatedKeys(doc []byte) []string {
	var list []string
	w := walker{json.NewDecoder(bytes.NewReader(doc)), func(key string) { list = append(list, key) }}
	w.value("", 0)
	return list
}

type walker struct {
	*json.Decoder
	found func(key string)
}

// value reads one value. There are no errors to meet: the document is valid.
func (w walker) value(at string, depth int) {
	if depth > maxDepth {
		_ = w.Decode(new(json.RawMessage))
		return
	}
	token, _ := w.Token()
	switch token {
	case json.Delim('{'):
		w.object(at, depth)
	case json.Delim('['):
		for i := 0; w.More(); i++ {
			w.value(fmt.Sprintf("%s/%d", at, i), depth+1)
		}
		_, _ = w.Token()
	}
}

func (w walker) object(at string, depth int) {
	seen := map[string]bool{}
	for w.More() {
		token, _ := w.Token()
		key := fmt.Sprint(token)
		if seen[key] {
			w.found(at + "/" + key)
		}
		seen[key] = true
		w.value(at+"/"+key, depth+1)
	}
	_, _ = w.Token()
}
