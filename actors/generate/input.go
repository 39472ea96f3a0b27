package generate

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// Input says what to generate. With only Repository set, the job writes llms.txt, llms-full.txt with the linked
// files, and llms.json. It must hold no secrets, because run.queued shows it.
type Input struct {
	// Repository is a folder, an archive, or the address of a repository: see package address.
	Repository string `json:"repository" form:"minLength=1" jsonschema:"owner/repo on GitHub, https URL of Git (.../tree/<ref>/<folder> is a part) or an archive, or folder of the server's"`
	Subfolder  string `json:"subfolder,omitempty" form:"value=folder" jsonschema:"only this folder"`
	// Out is the folder to write below, and is made if missing. With Config.Folder it is relative.
	Out    string `json:"out,omitempty" form:"value=folder" jsonschema:"folder below yours on the server, for <host>/<owner>/<repo>/"`
	Layout Layout `json:"layout,omitempty" form:"enum=host|flat|lmstxt,default=host,programs" jsonschema:"write to <host>/<owner>/<repo>/, to the folder itself, or to <owner>/<repo>/<repo>-llms.txt"`
	llmstxt.Options
	NoCache bool   `json:"no_cache,omitempty" form:"brief=skip the cache" jsonschema:"neither read nor write the cache of results"`
	Model   string `json:"model,omitempty" form:"maxLength=256,value=name,brief=model to describe it; auto for any" jsonschema:"model that describes the repository, or auto; default none"`
	// RequireModel fails the run if the model fails. Otherwise the run keeps the result without the model, marked
	// degraded.
	RequireModel bool `json:"require_model,omitempty" form:"brief=fail without it" jsonschema:"fail if the model fails"`
}

const maxModelName = 256

// check returns the input with its defaults, and the address of the repository.
func (in Input) check(c Config) (Input, source.Address, error) {
	if c.File != "" {
		in.Full, in.Ctx, in.Graph = llmstxt.FullNone, false, false
	}
	if in.Layout == layoutDefault {
		in.Layout = LayoutHost
	}
	if in.Model == AutoModel {
		in.Model = cmp.Or(c.DefaultModel, AutoModel)
	}
	var wrong error
	in.Options, wrong = in.Options.Checked()
	if err := cmp.Or(in.checkPlace(c), wrong, in.checkModel(c)); err != nil {
		return in, source.Address{}, err
	}
	address, err := c.locate(in.Repository, in.Subfolder)
	if err != nil {
		return in, address, err
	}
	in.Repository, in.Subfolder = address.String(), ""
	if c.Folder == nil {
		in.Out, err = filepath.Abs(in.Out)
	} else if in.Out = path.Clean(filepath.ToSlash(in.Out)); in.Out == "." {
		in.Out = ""
	}
	if err != nil {
		return in, address, messages.InvalidInput("%v", err)
	}
	return in, address, nil
}

// checkPlace returns the error of an output folder, layout or Config.File that cannot be used. It touches no file.
func (in Input) checkPlace(c Config) error {
	if c.Folder != nil {
		if err := confined.Name(path.Clean(filepath.ToSlash(in.Out))); err != nil {
			return messages.InvalidInput("the output folder cannot be used: %v", err)
		}
	}
	switch {
	case c.Folder == nil && in.Out == "":
		return messages.InvalidInput("name the output folder")
	case in.Layout != LayoutHost && in.Layout != LayoutFlat && in.Layout != LayoutLmstxt:
		return messages.InvalidInput("there is no layout %q", in.Layout)
	case c.File != "" && (!fs.ValidPath(c.File) || c.File != filepath.Base(c.File) || c.File == "."):
		return messages.InvalidInput("%q is not the name of a file", c.File)
	}
	return nil
}

// checkModel returns the error of a model's name that is malformed or missing, or that nothing here can find.
func (in Input) checkModel(c Config) error {
	switch {
	case len(in.Model) > maxModelName || strings.ContainsFunc(in.Model, unicode.IsControl):
		return messages.InvalidInput("the model's name is longer than %d bytes, or has control characters", maxModelName)
	case in.RequireModel && in.Model == "":
		return messages.InvalidInput("name the model that is required, or use %s", AutoModel)
	case in.Model != "" && c.Model == nil:
		return messages.InvalidInput("no model %s can be found here; leave the model out", in.Model)
	}
	return nil
}

// locate returns the address of the repository, or of a folder in it.
func (c Config) locate(repository, subfolder string) (source.Address, error) {
	address, err := source.Locate(repository, c.RemoteOnly)
	if err != nil || subfolder == "" {
		return address, err
	}
	folder := path.Clean(filepath.ToSlash(subfolder))
	switch {
	case !filepath.IsLocal(filepath.FromSlash(folder)):
		return address, messages.InvalidInput("the subfolder %s leads out of the repository", subfolder)
	case address.Kind == source.Archive:
		return address, messages.InvalidInput("a part of an archive cannot be read; leave the subfolder out")
	case address.Kind == source.Folder:
		address.Path = filepath.Join(address.Path, filepath.FromSlash(folder))
		if info, err := os.Stat(address.Path); err != nil || !info.IsDir() {
			return address, messages.InvalidInput("the repository has no folder %q", folder)
		}
	case address.Rest != "":
		address.Rest += "/" + folder
	default:
		address.Dir = folder
	}
	return source.Locate(address.String(), c.RemoteOnly)
}
