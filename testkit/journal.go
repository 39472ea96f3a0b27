package testkit

import "github.com/seed889630bf/lastword/actors/journal/hostile"

// Journal wraps a journal and disturbs its appends. Disturbance is what happens to one append; the zero value is nothing.
type (
	Journal     = hostile.Journal
	Disturbance = hostile.Disturbance
)
