package generate

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/messages"
)

// Input says what to generate. With Repository and Out alone the job writes llms.txt, llms-full.txt with the linked
// files, and llms.json.
type Input struct {
	// Repository is a folder, an archive, or the address of a repository: see package address.
	Repository string `json:"repository"`
	// Out is the folder to write under; it is made if it is missing.
	Out    string `json:"out"`
	Layout Layout `json:"layout,omitempty"`
	// File is the name of llms.txt in Out. If it is set, no other file is written.
	File string `json:"file,omitempty"`
	llmstxt.Options
	// Model is the name of the model that describes the repository, or AutoModel. If empty, no model is asked.
	Model string `json:"model,omitempty"`
	// RequireModel makes the run fail if the model fails. The default keeps the result without it, marked degraded.
	RequireModel bool `json:"require_model,omitempty"`
}

const maxModelName = 256

// check returns the input with its defaults, and the address of the repository.
func (in Input) check() (Input, address.Address, error) {
	if in.File != "" {
		in.Full = cmp.Or(in.Full, llmstxt.FullNone)
	}
	var wrong error
	in.Options, wrong = in.Options.Checked()
	if err := cmp.Or(in.checkPlace(), wrong, in.checkModel()); err != nil {
		return in, address.Address{}, err
	}
	name, at, err := Located(in.Repository)
	if err != nil {
		return in, at, err
	}
	if in.Out, err = filepath.Abs(in.Out); err != nil {
		return in, at, invalid("%v", err)
	}
	in.Repository = name
	return in, at, nil
}

func (in Input) checkPlace() error {
	switch {
	case in.Out == "":
		return invalid("name the output folder")
	case in.Layout != LayoutHost && in.Layout != LayoutFlat && in.Layout != LayoutLmstxt:
		return invalid("there is no layout %q", in.Layout)
	case in.File != "" && (!fs.ValidPath(in.File) || in.File != filepath.Base(in.File) || in.File == "."):
		return invalid("%q is not the name of a file", in.File)
	case in.File != "" && (in.Full != llmstxt.FullNone || in.Ctx || in.Graph):
		return invalid("a single file gets llms.txt alone; leave out full, ctx and graph")
	}
	return nil
}

func (in Input) checkModel() error {
	switch {
	case len(in.Model) > maxModelName || strings.ContainsFunc(in.Model, unicode.IsControl):
		return invalid("the model's name is longer than %d bytes, or has control characters", maxModelName)
	case in.RequireModel && in.Model == "":
		return invalid("name the model that is required, or use %s", AutoModel)
	}
	return nil
}

// Located returns the name of a repository as inputs of runs have it, and its address. Paths on this machine are made
// absolute. Errors: invalid_input.
func Located(repository string) (name string, at address.Address, err error) {
	if at, err = address.Parse(repository, exists); err != nil {
		return "", at, err
	}
	if at.Path != "" {
		if at.Path, err = filepath.Abs(at.Path); err != nil {
			return "", at, invalid("%v", err)
		}
	}
	if info, err := os.Stat(at.Path); at.Kind == address.Folder && (err != nil || !info.IsDir()) {
		return "", at, invalid("%s is not a folder; name the folder that holds the repository", repository)
	}
	return at.String(), at, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func invalid(format string, args ...any) error { return messages.InvalidInput(format, args...) }
