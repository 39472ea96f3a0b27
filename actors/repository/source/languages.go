package source

import (
	"context"

	"github.com/seed889630bf/lastword/actors/repository/source/c"
	"github.com/seed889630bf/lastword/actors/repository/source/csharp"
	"github.com/seed889630bf/lastword/actors/repository/source/elixir"
	"github.com/seed889630bf/lastword/actors/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/repository/source/java"
	"github.com/seed889630bf/lastword/actors/repository/source/javascript"
	"github.com/seed889630bf/lastword/actors/repository/source/kotlin"
	"github.com/seed889630bf/lastword/actors/repository/source/php"
	"github.com/seed889630bf/lastword/actors/repository/source/python"
	"github.com/seed889630bf/lastword/actors/repository/source/ruby"
	"github.com/seed889630bf/lastword/actors/repository/source/rust"
	"github.com/seed889630bf/lastword/actors/repository/source/shell"
	"github.com/seed889630bf/lastword/actors/repository/source/surface"
	"github.com/seed889630bf/lastword/actors/repository/source/swift"
)

// scanner reads one language. Its text has no byte order mark, ends every line with "\n", is valid UTF-8 and at most
// MaxBytes long.
type scanner struct {
	language string
	read     func(ctx context.Context, text []byte) surface.Outline
}

func scanners() []scanner {
	return []scanner{
		{"Go", golang.Outline},
		{"Python", python.Outline},
		{"Ruby", ruby.Outline},
		{"Elixir", elixir.Outline},
		{"Shell", shell.Outline},
		{"JavaScript", javascript.Outline},
		{"TypeScript", javascript.OutlineTyped},
		{"Rust", rust.Outline},
		{"Java", java.Outline},
		{"Kotlin", kotlin.Outline},
		{"Swift", swift.Outline},
		{"C#", csharp.Outline},
		{"PHP", php.Outline},
		{"C", c.Outline},
		{"C++", c.OutlinePlus},
	}
}

// Of gives the outline of a file; ok tells whether its language has a scanner. Once ctx is done it soon gives what it
// found so far.
func Of(ctx context.Context, language string, text []byte) (outline surface.Outline, ok bool) {
	for _, s := range scanners() {
		if s.language == language {
			return surface.Finish(s.read(ctx, surface.Normal(text))), true
		}
	}
	return surface.Outline{}, false
}
