package testkit

import "github.com/seed889630bf/lastword/actors/journal/hostile"

// Journal wraps a journal and disturbs its appends. Disturbance says how one append is disturbed; the zero value does
// nothing.
type (
	Journal     = hostile.Journal
	Disturbance = hostile.Disturbance
)
