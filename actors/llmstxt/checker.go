package llmstxt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
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

// checkOf returns the check for an artifact, or nil if no artifact has the name.
func checkOf(name string) func() checker {
	switch name {
	case nameTxt:
		return checkTxt
	case nameFull:
		return checkFull
	case nameCtx:
		return checkCtx
	case nameJSON:
		return checkJSON
	}
	return graphCheckOf(name)
}

func checkTxt() checker {
	return &whole{judge: func(data []byte) error {
		if _, problems := check.Parse(string(data)); len(problems) > 0 {
			return fmt.Errorf("not a valid llms.txt: %v", problems[0])
		}
		return nil
	}}
}

func checkCtx() checker {
	return &whole{judge: func(data []byte) error {
		for d := xml.NewDecoder(bytes.NewReader(data)); ; {
			if _, err := d.RawToken(); err == io.EOF {
				return nil
			} else if err != nil {
				return fmt.Errorf("not well-formed: %w", err)
			}
		}
	}}
}

func checkJSON() checker {
	return &whole{judge: func(data []byte) error {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		return d.Decode(new(render.Document))
	}}
}

// fullChecker does not hold the file, which may be large.
type fullChecker struct {
	check.Full
}

func checkFull() checker { return new(fullChecker) }

func (c *fullChecker) verdict() error {
	if problem := c.Finish(); problem != nil {
		return fmt.Errorf("not a valid llms-full.txt: %v", problem)
	}
	return nil
}

// digestChecker checks that a cached file has not changed.
type digestChecker struct {
	sum  hash.Hash
	want string
}

func (c *digestChecker) Write(p []byte) (int, error) {
	if c.sum == nil {
		c.sum = sha256.New()
	}
	return c.sum.Write(p)
}

func (c *digestChecker) verdict() error {
	if c.sum == nil || hex.EncodeToString(c.sum.Sum(nil)) != c.want {
		return errors.New("the cached file has changed")
	}
	return nil
}
