package kind

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// part is a sort of file that whole applications have, by its path or by what stands in it.
type part struct {
	section    string
	path, text *regexp.Regexp // text is nil where the path says enough
}

// framework is told by a file that its applications have, and says where their parts are.
type framework struct {
	mark  *regexp.Regexp
	named bool // such an application may have the name of a package
	parts []part
}

//go:embed frameworks.txt
var frameworkTable string

var frameworks = sync.OnceValue(func() (list []framework) {
	for line := range strings.Lines(frameworkTable) {
		key, pattern, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		path, text, holds := strings.Cut(pattern, " text ")
		switch key {
		case "", "#":
		case "mark", "named":
			list = append(list, framework{mark: regexp.MustCompile(pattern), named: key == "named"})
		default:
			p := part{section: key, path: regexp.MustCompile(path)}
			if holds {
				p.text = regexp.MustCompile(text)
			}
			last := &list[len(list)-1]
			last.parts = append(last.parts, p)
		}
	}
	return list
})
