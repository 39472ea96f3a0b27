package site

import "github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"

// scripted are the frameworks whose configuration is a program.
var scripted = []reader{docusaurusReader, vitepressReader, starlightReader}

// program returns what a configuration that is a program says.
func (r *Repository) program(file string) any {
	return literal.Read(file, func(file string) string {
		if !r.has(file) {
			return ""
		}
		return r.Text(file)
	})
}

// asList returns the items of a list in a configuration: of one that is no list, the thing itself.
func asList(v any) []any {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	return list
}

// textAt returns a text in a configuration.
func textAt(v any, path ...string) string { return textOf(literal.Get(v, path...)) }
