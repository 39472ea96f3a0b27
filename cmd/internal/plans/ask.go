package plans

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/muesli/cancelreader"

	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
)

// asker asks on a terminal.
type asker struct {
	in  io.Reader
	out io.Writer
}

// ask asks until the answer fits its schema. The error says that there will be none.
func (a asker) ask(ctx context.Context, in messages.InputRequired) (json.RawMessage, error) {
	schema, err := structured.Compile(in.Schema)
	if err != nil {
		return nil, err
	}
	keys, err := cancelreader.NewReader(a.in)
	if err != nil {
		return nil, err
	}
	defer keys.Close()
	ctx, stop := context.WithTimeout(ctx, in.Timeout())
	defer stop()
	defer context.AfterFunc(ctx, func() { keys.Cancel() })()
	lines := bufio.NewReader(keys)
	yesNo := in.InputKind == messages.InputConfirmation
	for {
		fmt.Fprintf(a.out, "? %s%s ", terminal.WithoutControls(in.Prompt), wanted(in.Schema, yesNo))
		line, err := lines.ReadString('\n')
		if err != nil {
			fmt.Fprintln(a.out)
			return nil, errors.Join(errors.New("nobody answers"), context.Cause(ctx))
		}
		problem := ""
		for _, value := range readings(strings.TrimSpace(line), yesNo) {
			problems := schema.Problems(value)
			if problems == nil {
				return value, nil
			}
			problem = strings.Join(problems, "; ")
		}
		if yesNo {
			problem = "answer y or n"
		}
		fmt.Fprintf(a.out, "  this does not fit: %s\n", terminal.WithoutControls(problem))
	}
}

// wanted says what an answer can be.
func wanted(schema json.RawMessage, yesNo bool) string {
	if yesNo {
		return " [y/n]"
	}
	var form struct {
		Type string `json:"type"`
		Enum []any  `json:"enum"`
	}
	switch err := json.Unmarshal(schema, &form); {
	case err == nil && form.Enum != nil:
		return fmt.Sprintf(" %v", form.Enum)
	case err == nil && form.Type == "string":
		return ""
	}
	return " (JSON of " + string(schema) + ")"
}

// readings are the values that a line can mean: JSON, or a text.
func readings(line string, yesNo bool) []json.RawMessage {
	if word := strings.ToLower(line); yesNo && (word == "y" || word == "yes") {
		line = "true"
	} else if yesNo && (word == "n" || word == "no") {
		line = "false"
	}
	text, _ := json.Marshal(line) // a string is JSON
	if json.Valid([]byte(line)) {
		return []json.RawMessage{text, json.RawMessage(line)}
	}
	return []json.RawMessage{text}
}
