package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
)

// checker reads a file as it is written; verdict says whether it may get its name.
type checker struct {
	io.Writer
	verdict func() error
}

// judged checks a file once all of it is there.
func judged(judge func(data []byte) error) *checker {
	var b bytes.Buffer
	return &checker{&b, func() error { return judge(b.Bytes()) }}
}

// checkOf returns the check for an artifact, or nil if no artifact has the name.
func checkOf(name string) *checker {
	switch name {
	case nameTxt:
		return judged(judgeTxt)
	case nameFull: // which may be too large to hold
		full := new(check.Full)
		return &checker{full, func() error {
			if problem := full.Finish(); problem != nil {
				return fmt.Errorf("not a valid llms-full.txt: %v", problem)
			}
			return nil
		}}
	case nameCtx:
		text := new(check.Ctx)
		return &checker{text, func() error {
			if problem := text.Finish(); problem != nil {
				return fmt.Errorf("not a valid llms-ctx.txt: %w", problem)
			}
			return nil
		}}
	case nameJSON:
		return judged(judgeJSON)
	}
	return graphCheckOf(name)
}

func judgeTxt(data []byte) error {
	if _, problems := check.Parse(string(data)); len(problems) > 0 {
		return fmt.Errorf("not a valid llms.txt: %v", problems[0])
	}
	return nil
}

func judgeJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(new(render.Document))
}
