package actors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// bill is what a machine says to the sender of an event that spends of a budget.
type bill struct {
	tried uint8                   // units for which the parent was asked
	ask   *messages.InputRequired // what people may be asked
	note  string                  // what is left, once most was spent
}

// Messages about budgets, to a machine.
type (
	// refill is a child's request for more of a unit; has is what it got so far. pay gets all that the parent's log grants
	// the child.
	refill struct {
		supervision.NoDeadLetterLog
		child messages.RunID
		unit  int
		has   float64
		tried uint8
		pay   func(messages.Budget)
	}
	// refilled is the parent's reply: all that its log grants the child. A grant whose reply was lost is in it.
	refilled struct {
		supervision.NoDeadLetterLog
		total messages.Budget
	}
	// paid: the log durably has a grant.
	paid struct {
		supervision.NoDeadLetterLog
		pay func()
	}
)

// Allowance is what a call of a model may spend. Input is the estimate of what is sent, with the Note. MaxTokens is 0
// without a limit. Note tells the model what is left once most of the budget was spent. Ended, unless nil, is to be
// called when the call has ended.
type Allowance struct {
	Input     int
	MaxTokens int
	Note      string
	Ended     func()
}

// AskModel emits llm.started. In a run with a budget it first reserves what the call may spend: input is an estimate of
// the request's tokens, and most is the longest answer that it asks for, or 0. If too little is left, it asks the
// parent run for more, and people if the run's limits say so. Else the error has the code budget, as when the principal
// may spend no more.
func (t *TaskContext) AskModel(b messages.LLMStarted, message string, input, most int) (Allowance, error) {
	spend := t.attempt.run.system.config.Spend
	if spend == nil {
		return t.askModel(b, message, input, most)
	}
	ended, err := spend(t.work.Context(), t.attempt.run.principal, int64(input)+int64(cmp.Or(most, longestAnswer)))
	if err != nil {
		return Allowance{}, err
	}
	allowed, err := t.askModel(b, message, input, most)
	if allowed.Ended = ended; err != nil {
		ended()
		return Allowance{}, err
	}
	return allowed, nil
}

func (t *TaskContext) askModel(b messages.LLMStarted, message string, input, most int) (Allowance, error) {
	if !t.attempt.run.budgeted {
		return Allowance{Input: input}, t.Emit(b, message)
	}
	if err := check(b, message); err != nil {
		return Allowance{}, err
	}
	b.Reserved = messages.Budget{Input: int64(input), Output: int64(most)}
	e := &emission{attempt: t.attempt, body: b, message: message, durable: true, bill: &bill{}}
	if err := t.tell(e, t.work.Send, t.work.Context().Done()); err != nil {
		return Allowance{}, err
	}
	reserved := e.body.(messages.LLMStarted).Reserved
	return Allowance{Input: int(reserved.Input), MaxTokens: int(reserved.Output), Note: e.bill.note}, nil
}

// Budgeted reports whether something bounds what the run spends.
func (t *TaskContext) Budgeted() bool {
	return t.attempt.run.budgeted || t.attempt.run.system.config.Spend != nil
}

// addBudget asks people for more of the budget, and then sends the event again. lacks is the error without more.
func (t *TaskContext) addBudget(e *emission, lacks error, send func(any) error, over <-chan struct{}) error {
	value, err := t.Ask(t.work.Context(), *e.bill.ask)
	switch {
	case messages.CodeOf(err) == messages.CauseDeadline, err == nil && messages.AnsweredBudget(value) == messages.Budget{}:
		return lacks
	case err != nil:
		return &unsent{err}
	}
	e.bill.ask = nil
	return t.tell(e, send, over)
}

func (m *machine) limits() *messages.Limits { return &m.ledger.Fold.Peek().Queued.Limits }

// afford prices an event, and binds what it spends of the run's budget. ok is false if the sender has its reply, or
// gets it later.
func (m *machine) afford(e *emission) (ok bool) {
	unit, err := -1, error(nil)
	switch b := e.body.(type) {
	case messages.LLMStarted:
		if !m.budgeted {
			break
		}
		if e.bill != nil {
			e.bill.note = "" // of a try before the parent gave more
			if s := m.ledger.Fold.Peek(); s.Purse != nil && len(s.Purse.Warned) > 0 {
				e.bill.note = "\n\n[Of the budget are left: " + s.Left(m.now).Described() + ". Finish within it.]"
			}
			b.Reserved.Input += int64(messages.InputTokens(len(e.bill.note)))
		}
		if b, unit, err = m.reserve(b); err == nil {
			e.body = b
		}
	case messages.ToolStarted:
		if !m.budgeted {
			break
		}
		switch remaining := m.left(); {
		case remaining[unitToolCalls] < 1:
			unit, err = unitToolCalls, m.errSpent(unitToolCalls)
		case remaining[unitTime] <= 0:
			unit, err = unitTime, m.errSpent(unitTime)
		}
	case messages.LLMCompleted:
		if _, made := m.ledger.Fold.Call(b.Call); !made && m.budgeted {
			m.withdraw(b.Call)
			err = errSilenced
		}
		call, _ := m.ledger.Fold.Call(b.Call)
		b.Usage = m.priced(b.Usage, b.Model, call.Name)
		e.body = b
	case messages.UsageReported:
		b.Usage = *m.priced(&b.Usage, b.Model)
		if e.body = b; !m.budgeted {
			break
		}
		if e.bill == nil {
			e.bill = &bill{}
		}
		remaining := m.left()
		for unit, used := range b.Amount().Amounts() {
			if used > 0 && used >= remaining[unit] && m.askParent(e, unit, &e.bill.tried) {
				return false
			}
		}
	}
	switch {
	case err == nil:
		return true
	case unit < 0:
	case e.bill == nil:
		e.bill = &bill{}
		fallthrough
	default:
		if m.askParent(e, unit, &e.bill.tried) {
			return false
		}
		if m.limits().OnBudget == messages.BudgetAsk {
			e.bill.ask = m.budgetQuestion(unit)
		}
	}
	tell(m, e.verdict, err)
	return false
}

func (m *machine) left() messages.Amounts { return m.ledger.Fold.Peek().Left(m.now) }

// errSpent names the unit that is spent.
func (m *machine) errSpent(unit int) error {
	return messages.Errorf(messages.CodeBudget, "%s; start it with a larger budget", m.shortage(unit))
}

func (m *machine) shortage(unit int) string {
	return fmt.Sprintf("too little of the run's budget is left: %s of %s=%s",
		messages.FormatAmount(unit, m.left()[unit]), messages.BudgetUnits[unit], messages.FormatAmount(unit, m.ledger.Fold.Peek().Budget().Amounts()[unit]))
}

// priced adds its cost to what a model has used. The first name with a price counts.
func (m *machine) priced(u *messages.Usage, models ...string) *messages.Usage {
	if m.prices == nil || u == nil || u.Cost != nil {
		return u
	}
	for _, model := range models {
		if price, known := m.prices(model); known {
			used := *u
			used.Cost = new(price.Cost(used))
			return &used
		}
	}
	return u
}

// longestAnswer is how many tokens are reserved for an answer whose request names no limit, unless half of what is left
// is more.
const longestAnswer = 4096

// reserve bounds the answer of a call by what is left, and returns the unit that is spent.
func (m *machine) reserve(b messages.LLMStarted) (messages.LLMStarted, int, error) {
	remaining, limit := m.left(), m.ledger.Fold.Peek().Budget().Amounts()
	in, most := float64(b.Reserved.Input), float64(b.Reserved.Output)
	var price Price
	if remaining[unitCost] < messages.Unlimited && b.Reserved.Cost.Amount == 0 { // else who makes the call knows its cost
		known := false
		if m.prices != nil {
			price, known = m.prices(b.Model)
		}
		if !known {
			return b, -1, errUnpriced(b.Model)
		}
	}
	room := float64(messages.Unlimited) // tokens of the answer
	for unit, of := range remaining {
		least := math.SmallestNonzeroFloat64
		answer := cmp.Or(min(most, messages.LeastOutput), messages.LeastOutput)
		switch unit {
		case unitTokens:
			of, least = of-in, min(answer, limit[unit]/4)
		case unitInput:
			of, least = of-in, 0
		case unitOutput:
			least = min(answer, limit[unit]/4)
		case unitModelCalls:
			least = 1
		case unitToolCalls:
			continue
		case unitCost:
			of = (of*1e6 - in*price.Input) / max(price.Output, 1e-9)
			least = min(answer, limit[unit]*1e6/max(price.Output, 1e-9)/4)
		}
		if remaining[unit] < messages.Unlimited && of < least {
			return b, unit, m.errSpent(unit)
		}
		if remaining[unit] < messages.Unlimited && (unit == unitTokens || unit == unitOutput || unit == unitCost) {
			room = min(room, math.Floor(of))
		}
	}
	b.Reserved = messages.Budget{Input: int64(in), Tokens: int64(in)}
	if room < messages.Unlimited {
		out := int64(min(room, cmp.Or(most, max(longestAnswer, math.Floor(room/2)))))
		b.Reserved.Output, b.Reserved.Tokens = out, int64(in)+out
		b.Reserved.Cost = price.Cost(messages.Usage{PromptTokens: &b.Reserved.Input, CompletionTokens: &out})
	}
	return b, -1, nil
}

// warn records which units are nearly spent.
func (m *machine) warn() {
	for m.budgeted {
		w, ok := m.ledger.Fold.Peek().Warning(m.now)
		if !ok || m.record(w, "most of the budget is spent: "+w.Unit) != nil {
			return
		}
	}
}

// spent counts an event for the principal, warns, and ends a run whose agent has spent all: nobody asks before its calls.
func (m *machine) spent(b messages.Body) {
	var used messages.Budget
	var usage *messages.Usage
	var model string
	_, reported := b.(messages.UsageReported)
	switch b := b.(type) {
	case messages.LLMCompleted:
		used, usage, model = b.Usage.Amount(), b.Usage, b.Model
	case messages.UsageReported:
		if b.Call == "" { // else the end of the call counts
			used, usage, model = b.Amount(), &b.Usage, b.Model
		}
	case messages.ToolStarted:
	default:
		return
	}
	if m.counts != nil && used.Tokens > 0 {
		m.do(effect{do: doTell, tell: func() { m.counts(used.Tokens) }})
	}
	if !m.budgeted {
		return
	}
	m.warn()
	if used.Tokens > 0 && usage.Cost == nil && m.left()[unitCost] < messages.Unlimited {
		m.fail(errUnpriced(model))
	} else if reported {
		for unit, left := range m.left() {
			if left <= 0 {
				m.fail(m.errSpent(unit))
				return
			}
		}
	}
}

// mostAdded is the most that an answer adds to a unit. [messages.Budget.Check] allows seconds of ten years, and more of the others.
const mostAdded = 300_000_000

// budgetQuestion asks people for more of the unit.
func (m *machine) budgetQuestion(unit int) *messages.InputRequired {
	name, number := messages.BudgetUnits[unit], 1
	for _, in := range m.ledger.Fold.Peek().Inputs {
		if in.Kind == messages.InputBudget && in.Closed {
			number++
		}
	}
	of, kind := map[int]string{unitCost: " in " + messages.Currency, unitTime: " in seconds"}[unit], "integer"
	if of != "" {
		kind = "number"
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{name: map[string]any{"type": kind, "minimum": 0, "maximum": mostAdded,
		"description": "how much to add to " + name + of}}, "required": []string{name}})
	prompt := fmt.Sprintf("%s. How much%s may it spend in addition?", m.shortage(unit), of)
	return &messages.InputRequired{Request: fmt.Sprint(messages.BudgetRequest, number), InputKind: messages.InputBudget, Schema: schema, Prompt: prompt}
}

// share returns a child's part of what is left: its own cap, or else half, and at least what a call needs.
func (m *machine) share(own messages.Budget) (messages.Budget, error) {
	remaining, caps := m.left(), own.Amounts()
	for unit := range caps {
		if remaining[unit] >= messages.Unlimited {
			continue
		}
		if caps[unit] = min(cmp.Or(caps[unit], half(unit, remaining[unit])), remaining[unit]); caps[unit] <= 0 {
			return own, m.errSpent(unit)
		}
	}
	return caps.Budget(), nil
}

// half returns half of what is left of the unit, and at least what a call needs. All children share the time.
func half(unit int, left float64) float64 {
	switch unit {
	case unitTime:
		return left
	case unitCost:
		return left / 2
	}
	least := 2.0 * messages.LeastOutput
	if unit == unitModelCalls || unit == unitToolCalls {
		least = 1
	}
	return min(left, max(math.Floor(left/2), least))
}

// askParent asks the parent once for more of the unit. what is handled again when the reply has come.
func (m *machine) askParent(what any, unit int, tried *uint8) bool {
	if m.ledger.Fold.Peek().Queued.Parent == "" || unit == unitTime || *tried&(1<<unit) != 0 {
		return false
	}
	*tried |= 1 << unit
	m.short = append(m.short, what)
	m.do(effect{do: doAskParent, message: &refill{child: m.ledger.ID, unit: unit, has: m.granted()[unit]}})
	return true
}

// granted returns what the run has got from its parent.
func (m *machine) granted() messages.Amounts {
	got := m.limits().Budget
	if p := m.ledger.Fold.Peek().Purse; p != nil {
		got = got.Plus(p.Refilled)
	}
	return got.Amounts()
}

// withdraw forgets the start of a call that waits for more budget: a cancel came before the parent's reply, and the call
// was not made.
func (m *machine) withdraw(call string) {
	i := slices.IndexFunc(m.short, func(what any) bool {
		e, ok := what.(*emission)
		if !ok {
			return false
		}
		b, ok := e.body.(messages.LLMStarted)
		return ok && b.Call == call
	})
	if i >= 0 {
		m.short[i] = nil // the parent's reply is still to come
	}
}

// refilled takes what the parent has given, and handles again what waits longest for it.
func (m *machine) refilled(r *refilled) {
	more, has := r.total.Amounts(), m.granted()
	for unit, limit := range m.limits().Budget.Amounts() {
		if more[unit] -= has[unit]; limit == 0 || unit == unitTime || more[unit] < 1e-9 { // sums of costs are not exact
			more[unit] = 0
		}
	}
	if grant := more.Budget(); grant != (messages.Budget{}) {
		_ = m.record(messages.BudgetGranted{Grant: grant}, "the parent run gives "+grant.String())
	}
	if len(m.short) == 0 {
		return
	}
	first := m.short[0]
	if m.short = slices.Delete(m.short, 0, 1); len(m.short) == 0 {
		m.short = nil
	}
	switch w := first.(type) {
	case *emission:
		m.emitted(w)
	case *refill:
		m.refill(w)
	}
}

// refill gives a child more of a unit, once the log durably says so. A child that has got less than the log grants it has
// lost a reply, and gets no more than that.
func (m *machine) refill(r *refill) {
	c := m.children[r.child]
	if c != nil && c.attempt == nil {
		return // of an attempt before: the child asks again when this one has said what the child may spend
	}
	known, _ := m.ledger.Fold.Child(r.child)
	has := known.Granted().Amounts()[r.unit]
	var more messages.Amounts
	if _, ending := m.phase.(*ending); c != nil && !ending && has-r.has < 1e-9 {
		if left := m.left()[r.unit]; left < messages.Unlimited {
			more[r.unit] = half(r.unit, left)
		}
		if own := c.own.Amounts()[r.unit]; own > 0 {
			more[r.unit] = min(more[r.unit], max(own-has, 0))
		} else if more[r.unit] <= 0 && m.askParent(r, r.unit, &r.tried) {
			return
		}
	}
	total := known.Granted()
	if grant := more.Budget(); grant != (messages.Budget{}) && m.record(messages.BudgetGranted{Child: r.child, Grant: grant}, "a sub-run gets "+grant.String()) == nil {
		total = total.Plus(grant)
	}
	m.whenKept(&paid{pay: func() { r.pay(total) }})
}
