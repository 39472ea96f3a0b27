package door

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// By is how an answer comes to a run. Each door states it; the zero By may answer nothing.
type By int

// The ways. A door states one of the first three; [Door.Answer] recognises the others by the caller.
const (
	Dialogue   By = 1 + iota // a dialogue that the caller's host shows to its user
	Client                   // a client of a protocol, which may be a program
	Agent                    // a model, by a call of a tool or a message
	byPage                   // the page, with its session
	byTerminal               // a command at a terminal of the server's user
	byInside                 // what runs inside the run itself or its tree
)

// ways are the names of the ways in events.
var ways = [...]string{Dialogue: "dialogue", Client: "client", Agent: "agent", byPage: "page", byTerminal: "terminal", byInside: "inside"}

// verdict says whether an answer is taken.
type verdict int

const (
	never     verdict = iota
	always            // from everybody who may answer at all
	withScope         // with a token that has the scope run:answer
	ifAllowed         // if the job or the operator lets agents confirm
)

// answers says who may answer what. Confirmations include approvals.
var answers = [...]struct{ confirmations, others verdict }{
	Dialogue:   {always, always},
	Client:     {withScope, always},
	Agent:      {ifAllowed, always},
	byPage:     {always, always},
	byTerminal: {always, always},
	byInside:   {never, never},
}

// seen returns how the answer comes: what the server knows of the caller goes before what the door states.
func (by By) seen(ctx context.Context) By {
	switch place := auth.At(ctx); {
	case auth.From(ctx).Inside != nil:
		return byInside
	case by == Client && place == auth.Page:
		return byPage
	case by == Client && place == auth.Terminal:
		return byTerminal
	}
	return by
}

// MayAnswer returns an error (forbidden) if the caller may not answer the question. It leaves the question open.
func (d *Door) MayAnswer(ctx context.Context, by By, run messages.State, request string) error {
	by = by.seen(ctx)
	rule := answers[by].others
	i := slices.IndexFunc(run.Inputs, func(in messages.Input) bool { return in.Request == request })
	switch {
	case i >= 0 && confirms(run.Inputs[i].Kind):
		rule = answers[by].confirmations
	case i < 0 && !run.Status.IsEnded() && answers[by].confirmations != always: // it may be asked in a moment, and then be a confirmation
		return messages.Errorf(messages.CodeNotFound, "run %s has not asked %q", run.RunID, request)
	}
	p := auth.From(ctx)
	switch {
	case rule == always,
		rule == withScope && p.Name != "" && p.May(auth.AnswerRuns),
		rule == ifAllowed && (d.AgentsConfirm || d.jobs[run.Queued.Job].ConfirmByCaller):
		return nil
	case by == byInside:
		return messages.Errorf(auth.CodeForbidden, "what runs inside run %s answers none of its questions; a person does%s", p.Inside.Run, d.where(run.RunID))
	case by == Agent:
		return messages.Errorf(auth.CodeForbidden, "%q asks a person, so an agent may not answer it; ask your user to answer%s, "+
			"or the operator to allow it with confirm_by: caller or --agents-may-confirm", request, d.where(run.RunID))
	}
	return messages.Errorf(auth.CodeForbidden, "%q asks a person; answer%s, at a terminal with lastword runs answer, "+
		"or with a token that has the scope %s", request, d.where(run.RunID), auth.AnswerRuns)
}

// confirms reports whether the answer confirms or approves something.
func confirms(kind messages.InputKind) bool {
	return kind == messages.InputConfirmation || kind == messages.InputReview || kind == messages.InputBudget
}

// where says where people answer the run's questions.
func (d *Door) where(run messages.RunID) string {
	if d.People == nil || d.People() == "" {
		return " in the dialogue of the host"
	}
	return fmt.Sprintf(" at %s/runs/%s", d.People(), run)
}
