package llmstxt

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
)

// checker reads a file as it is written; verdict says whether it may get its name.
type checker interface {
	io.Writer
	verdict() error
}

// whole checks a file once all of it is there.
type whole struct {
	bytes.Buffer
	judge func(data []byte) error
}

func (w *whole) verdict() error { return w.judge(w.Bytes()) }

func judged(judge func(data []byte) error) func() checker {
	return func() checker { return &whole{judge: judge} }
}

// checkOf returns the check for an artifact, or nil if no artifact has the name.
func checkOf(name string) func() checker {
	switch name {
	case nameTxt:
		return judged(judgeTxt)
	case nameFull:
		return func() checker { return new(fullChecker) }
	case nameCtx:
		return judged(judgeCtx)
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

func judgeCtx(data []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.RawToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
	}
}

func judgeJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(new(render.Document))
}

// fullChecker does not hold the file, which may be large.
type fullChecker struct {
	check.Full
}

func (c *fullChecker) verdict() error {
	if problem := c.Finish(); problem != nil {
		return fmt.Errorf("not a valid llms-full.txt: %v", problem)
	}
	return nil
}
