package site

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// front is the front matter of a page.
type front map[string]any

// frontMatter returns the front matter of a text: YAML between lines of "---", or TOML between lines of "+++".
func frontMatter(text string) front {
	f := front{}
	text = strings.ReplaceAll(strings.TrimLeft(text, "\ufeff \t\r\n"), "\r\n", "\n")
	if body, ok := fenced(text, "---"); ok {
		_ = yaml.Unmarshal([]byte(body), (*map[string]any)(&f)) // what cannot be read is no front matter
	} else if body, ok := fenced(text, "+++"); ok {
		_ = toml.Unmarshal([]byte(body), (*map[string]any)(&f))
	}
	return f
}

func fenced(text, fence string) (body string, ok bool) {
	rest, ok := strings.CutPrefix(text, fence+"\n")
	if !ok {
		return "", false
	}
	body, _, ok = strings.Cut("\n"+rest, "\n"+fence)
	return body, ok
}

// text returns a value as text. Numbers and dates are texts too.
func (f front) text(name string) string { return textOf(f[name]) }

// flag reports whether a value is true.
func (f front) flag(name string) bool { return f[name] == true }

// position returns a number.
func (f front) position(name string) (n float64, ok bool) { return numberOf(f[name]) }

// textOf returns a scalar as text, and "" for all else.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// page returns a Node of a page with what its front matter says.
func (r *Repository) page(file string) (*Node, front) {
	f := frontMatter(r.Text(file))
	return &Node{Page: file, Title: f.text("title"), Description: f.text("description")}, f
}
