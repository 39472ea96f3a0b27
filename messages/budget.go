package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Budget is an amount in each unit that a tree of runs spends. As a limit, zero sets none.
type Budget struct {
	// Tokens are the sum of Input and Output.
	Tokens int64 `json:"tokens,omitempty"`
	// Input counts the tokens of requests to models, those that a server had read before included.
	Input int64 `json:"input,omitempty"`
	// Output counts the tokens of answers, their thoughts included.
	Output     int64 `json:"output,omitempty"`
	ModelCalls int64 `json:"model_calls,omitempty"`
	ToolCalls  int64 `json:"tool_calls,omitempty"`
	// Cost is what the calls of models cost.
	Cost Cost `json:"cost,omitzero"`
	// Time is how long the run works; a wait for people does not count.
	Time Duration `json:"time,omitempty"`
}

// Cost is an amount of money.
type Cost struct {
	Amount float64 `json:"amount"`
	// Currency is USD, the currency of the prices; "" means it too.
	Currency string `json:"currency,omitempty"`
}

// Currency is the currency of prices and costs.
const Currency = "USD"

// OnBudget says what follows when a budget is used up.
type OnBudget string

// The run ends with limit_exceeded (the default), or it asks people for more.
const (
	BudgetEnd OnBudget = "end"
	BudgetAsk OnBudget = "ask"
)

// Unlimited is what is left of a unit without a limit.
const Unlimited = 1 << 53

// LeastOutput is the shortest answer, in tokens, for which a model is asked.
const LeastOutput = 256

// BudgetUnits are the names of the units, in the order of the fields of [Budget].
var BudgetUnits = [...]string{"tokens", "input", "output", "model_calls", "tool_calls", "cost", "time"}

// Amounts are the fields of a Budget, in the order of [BudgetUnits]. Time is in seconds.
type Amounts [len(BudgetUnits)]float64

// Amounts returns the fields as a list.
func (b Budget) Amounts() Amounts {
	return Amounts{float64(b.Tokens), float64(b.Input), float64(b.Output), float64(b.ModelCalls), float64(b.ToolCalls),
		b.Cost.Amount, time.Duration(b.Time).Seconds()}
}

// Budget returns the amounts as a Budget.
func (a Amounts) Budget() (b Budget) {
	b = Budget{Tokens: int64(a[0]), Input: int64(a[1]), Output: int64(a[2]), ModelCalls: int64(a[3]), ToolCalls: int64(a[4]),
		Time: Duration(a[6] * float64(time.Second))}
	if a[5] != 0 {
		b.Cost = Cost{a[5], Currency}
	}
	return b
}

// Plus returns the sum.
func (b Budget) Plus(c Budget) Budget { return b.with(c, func(x, y float64) float64 { return x + y }) }

// Minus returns the difference, and nothing below zero.
func (b Budget) Minus(c Budget) Budget {
	return b.with(c, func(x, y float64) float64 { return max(x-y, 0) })
}

// Or returns the limits; where there is none it returns the others.
func (b Budget) Or(others Budget) Budget {
	return b.with(others, func(x, y float64) float64 { return cmp.Or(x, y) })
}

func (b Budget) with(c Budget, f func(x, y float64) float64) Budget {
	x, y := b.Amounts(), c.Amounts()
	for i := range x {
		x[i] = f(x[i], y[i])
	}
	return x.Budget()
}

// Check returns an error (invalid_input) for amounts that no limit has.
func (b Budget) Check() error {
	for i, a := range b.Amounts() {
		if math.IsNaN(a) || a < 0 || a >= Unlimited || i == 6 && a > (10*365*24*time.Hour).Seconds() {
			return InvalidInput("the budget's %s must be a positive number, not %v", BudgetUnits[i], a)
		}
	}
	if b.Cost.Currency != "" && b.Cost.Currency != Currency {
		return InvalidInput("the budget's cost is in %s, the currency of prices, and not in %.20q", Currency, b.Cost.Currency)
	}
	return nil
}

// ParseBudget reads a budget such as tokens=50000,cost=2.50USD,time=10m. Errors: invalid_input.
func ParseBudget(text string) (Budget, error) {
	var all Amounts
	for part := range strings.SplitSeq(text, ",") {
		unit, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		i := slices.Index(BudgetUnits[:], unit)
		amount, err := strconv.ParseFloat(strings.TrimSuffix(value, Currency), 64)
		if unit == "time" {
			var d time.Duration
			d, err = time.ParseDuration(value)
			amount = d.Seconds()
		}
		whole := unit == "cost" || unit == "time" || amount == math.Trunc(amount)
		if i < 0 || err != nil || amount <= 0 || !whole {
			return Budget{}, InvalidInput("%.60q is no part of a budget; write unit=amount, such as tokens=50000,cost=2.50USD,time=10m, "+
				"with the units %s", part, strings.Join(BudgetUnits[:], ", "))
		}
		all[i] = amount
	}
	return all.Budget(), all.Budget().Check()
}

// String writes the amounts that are not zero, as ParseBudget reads them.
func (b Budget) String() string {
	var parts []string
	for i, a := range b.Amounts() {
		if a != 0 {
			parts = append(parts, BudgetUnits[i]+"="+FormatAmount(i, a))
		}
	}
	return strings.Join(parts, ",")
}

// FormatAmount writes an amount of the unit with that index.
func FormatAmount(unit int, amount float64) string {
	switch BudgetUnits[unit] {
	case "cost":
		return strconv.FormatFloat(math.Round(amount*1e6)/1e6, 'f', -1, 64) + Currency
	case "time":
		return time.Duration(amount * float64(time.Second)).Round(time.Second).String()
	}
	return strconv.FormatFloat(amount, 'f', -1, 64)
}

// Amount returns what the call has spent. Its Tokens are those that are known.
func (u *Usage) Amount() (b Budget) {
	if u == nil {
		return b
	}
	b.Input, b.Output = u.Tokens()
	b.Tokens = b.Input + b.Output
	if u.Cost != nil {
		b.Cost = *u.Cost
	}
	return b
}

// DayTokens are the tokens of models that a principal's runs may use on a day (UTC).
type DayTokens struct {
	Principal string `json:"principal,omitempty"`
	Day       string `json:"day" doc:"The day in UTC, as year-month-day"`
	Ceiling   int64  `json:"ceiling"`
	Drawn     int64  `json:"drawn" doc:"Tokens that servers have reserved for their runs, used or not"`
	Left      int64  `json:"left" doc:"Tokens that no server has reserved, and tokens that this server has reserved but not used"`
}

// Purse is what a run has spent, and what of its budget is bound.
type Purse struct {
	// Spent is what the run and its ended sub-runs have spent.
	Spent Budget `json:"spent,omitzero"`
	// Estimated says that a part of Spent is an estimate.
	Estimated bool `json:"estimated,omitempty"`
	// Reserved is bound by calls of models that have not ended, and Granted by sub-runs that have not ended.
	Reserved Budget `json:"reserved,omitzero"`
	Granted  Budget `json:"granted,omitzero"`
	// Added is what people have added to the budget, and Refilled what the parent has.
	Added    Budget `json:"added,omitzero"`
	Refilled Budget `json:"refilled,omitzero"`
	// Warned are the units of budget that are used to 80 %.
	Warned []string `json:"warned,omitempty"`
}

// Spent returns what the run and its ended sub-runs have spent.
func (s *State) Spent() Budget {
	if s.Purse == nil {
		return Budget{}
	}
	return s.Purse.Spent
}

// Budget returns the limits of the run's budget, with what was added.
func (s *State) Budget() Budget {
	return s.Purse.raised(s.limits())
}

// raised returns the limits with what was added to them. p may be nil.
func (p *Purse) raised(limits Budget) Budget {
	if p == nil {
		return limits
	}
	limit, added := limits.Amounts(), p.Added.Plus(p.Refilled).Amounts()
	for i := range limit {
		if limit[i] > 0 {
			limit[i] += added[i]
		}
	}
	return limit.Budget()
}

func (s *State) limits() Budget {
	if s.Queued == nil {
		return Budget{}
	}
	return s.Queued.Limits.Budget
}

// Left returns what is left of each unit at the time; [Unlimited] without a limit.
func (s *State) Left(now time.Time) Amounts {
	remaining := s.Budget().Amounts()
	var used Budget
	if p := s.Purse; p != nil {
		used = p.Spent.Plus(p.Reserved).Plus(p.Granted)
	}
	used.Time = 0
	if remaining[6] > 0 {
		used.Time = Duration(now.Sub(s.QueuedAt) - s.Waited(now))
	}
	for i, u := range used.Amounts() {
		if remaining[i] == 0 {
			remaining[i] = Unlimited
		} else {
			remaining[i] = max(remaining[i]-u, 0)
		}
	}
	return remaining
}

// Granted returns the sub-run's part of the budget.
func (c ChildState) Granted() Budget {
	if c.Grant == nil {
		return Budget{}
	}
	return *c.Grant
}

// purse returns a copy of the purse, which now is the State's.
func (f *Fold) purse() *Purse {
	f.s.Purse = f.s.Purse.copy()
	return f.s.Purse
}

// copy returns a copy. p may be nil.
func (p *Purse) copy() *Purse {
	if p == nil {
		return &Purse{}
	}
	return new(*p)
}

func (p *Purse) spend(b Budget, estimated bool) {
	p.Spent, p.Estimated = p.Spent.Plus(b), p.Estimated || estimated
}

// spend adds what was spent.
func (f *Fold) spend(b Budget, estimated bool) {
	if b != (Budget{}) {
		f.purse().spend(b, estimated)
	}
}

// addBudget raises the limits by what people have added.
func (f *Fold) addBudget(b Budget) {
	p := f.purse()
	p.Added, p.Warned = p.Added.Plus(b), nil
}

// release ends the reservation of a call of a model.
func (f *Fold) release(c *Call) {
	if c.Reserved != nil {
		p := f.purse()
		p.Reserved, c.Reserved = p.Reserved.Minus(*c.Reserved), nil
	}
}

// forfeit counts what the task's open calls have reserved as spent: nobody will say what they used.
func (f *Fold) forfeit(task string) {
	if f.s.Purse == nil || f.s.Purse.Reserved == (Budget{}) {
		return
	}
	for i, c := range f.s.Calls {
		if c.Task == task && !c.Ended && c.Reserved != nil {
			f.spend(*c.Reserved, true)
			f.release(&c)
			f.calls.put(&f.s.Calls, i, c)
		}
	}
}

// BudgetWarning says that 80 % of a unit were spent. It comes once for each unit, and again after more was added.
type BudgetWarning struct {
	// Unit is the name of the field of the budget.
	Unit string `json:"unit"`
	// Used is what was spent, and Limit the budget; time is in seconds.
	Used  float64 `json:"used"`
	Limit float64 `json:"limit"`
}

func (BudgetWarning) info() *KindInfo { return budgetWarning }

var budgetWarning = row(BudgetWarning{}, KindBudgetWarning, "spending", "Most of a unit of the run's budget was spent.", traits{
	legal: with(func(b BudgetWarning, _ *Fold) *Refusal {
		return when(!slices.Contains(BudgetUnits[:], b.Unit), RuleBody, "a budget has no unit %q", b.Unit)
	}),
	apply: to(func(b BudgetWarning, f *Fold) {
		if p := f.purse(); !slices.Contains(p.Warned, b.Unit) {
			p.Warned = append(slices.Clip(p.Warned), b.Unit)
		}
	}),
})

// BudgetGranted says that a sub-run gets more of its parent's budget. The parent's log names the sub-run; the sub-run's
// log does not.
type BudgetGranted struct {
	Child RunID `json:"child,omitempty"`
	// Grant is what it gets.
	Grant Budget `json:"grant"`
}

func (BudgetGranted) info() *KindInfo { return budgetGranted }

var budgetGranted = row(BudgetGranted{}, KindBudgetGranted, "spending", "A sub-run gets more of its parent's budget.", traits{
	legal: with(func(b BudgetGranted, f *Fold) *Refusal {
		child, known := f.Child(b.Child)
		return when(b.Child != "" && (!known || child.Status.IsEnded()), ruleChild, "child %q is not running", b.Child)
	}),
	apply: to(func(b BudgetGranted, f *Fold) {
		if b.Child == "" {
			p := f.purse()
			p.Refilled, p.Warned = p.Refilled.Plus(b.Grant), nil
			return
		}
		i := f.child(b.Child)
		f.grant(i, f.s.Children[i], b.Grant)
	}),
	list: to(func(b BudgetGranted, s *Summary) {
		if b.Child == "" {
			s.Purse = s.Purse.copy()
			s.Purse.Refilled = s.Purse.Refilled.Plus(b.Grant)
		}
	}),
})

// grant binds more of the budget to a sub-run.
func (f *Fold) grant(i int, c ChildState, more Budget) {
	if more == (Budget{}) {
		f.children.put(&f.s.Children, i, c)
		return
	}
	more.Time = 0 // all sub-runs share it
	p, all := f.purse(), more.Plus(c.Granted())
	p.Granted, c.Grant = p.Granted.Plus(more), &all
	f.children.put(&f.s.Children, i, c)
}

// Warning returns a unit that is spent to 80 % or more and without a warning, or false.
func (s *State) Warning(now time.Time) (w BudgetWarning, ok bool) {
	limit, remaining := s.Budget().Amounts(), s.Left(now)
	used := s.Spent()
	for _, c := range s.Calls {
		if c.Estimated && c.Reserved != nil {
			used = used.Plus(*c.Reserved)
		}
	}
	spent := used.Amounts()
	spent[6] = limit[6] - remaining[6]
	for i := range limit {
		if limit[i] > 0 && spent[i] >= 0.8*limit[i] && (s.Purse == nil || !slices.Contains(s.Purse.Warned, BudgetUnits[i])) {
			return BudgetWarning{BudgetUnits[i], spent[i], limit[i]}, true
		}
	}
	return w, false
}

// Described says for people and models what is left of the units that the budget limits.
func (a Amounts) Described() string {
	var parts []string
	for i, left := range a {
		if left < Unlimited {
			parts = append(parts, fmt.Sprintf("%s %s", strings.ReplaceAll(BudgetUnits[i], "_", " "), FormatAmount(i, left)))
		}
	}
	return strings.Join(parts, ", ")
}

// AnsweredBudget returns what an answer adds: amounts by unit; time is in seconds.
func AnsweredBudget(value json.RawMessage) Budget {
	var by map[string]float64
	var all Amounts
	if json.Unmarshal(value, &by) == nil {
		for i, unit := range BudgetUnits {
			all[i] = by[unit]
		}
	}
	if b := all.Budget(); b.Check() == nil {
		return b
	}
	return Budget{}
}
