package openai

import (
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
	"github.com/seed889630bf/lastword/transport/openai/internal/completions"
	"github.com/seed889630bf/lastword/transport/openai/internal/responses"
)

// Add passes the handler of each API with its paths to add. Put each behind an auth.Middleware.
func Add(to *door.Door, add func(api *door.Handler, paths ...string)) {
	add(api.New(to), api.Paths()...)
	add(completions.New(to), completions.Paths()...)
	add(responses.New(to), responses.Paths()...)
}
