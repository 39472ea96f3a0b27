package expression

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Bounds of one evaluation: the steps of Starlark, and the cost of operators and calls. A byte of text costs one.
const (
	maxSteps = 1 << 20
	budget   = 16 << 20
	costNode = 32 // of each value
	costStep = budget / maxSteps
	costEval = 1 << 10 // of a value that takes no step
	// total is what the evaluations of a run may cost together: a few seconds of one core.
	total = 64 * budget
	// heeded is after how many steps, and after how many payments, an evaluation looks at its context.
	heeded = 10_000
)

var errBudget = errors.New("the value is too large, or takes too long")

// ErrSpent is the error of an evaluation for which a [Budget] has nothing left.
var ErrSpent = errors.New("the expressions of this plan take too long together; evaluate less, or divide the plan")

// Budget is what evaluations may cost together. nil has no bound. It is safe for concurrent use.
type Budget struct{ spent atomic.Int64 }

// spend takes the cost of an evaluation. It returns the cause of a context that is done.
func (b *Budget) spend(ctx context.Context, cost int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if b != nil && b.spent.Add(int64(cost)) > total {
		return ErrSpent
	}
	return nil
}

// allowance is the remaining budget of an evaluation. After the first error nothing is left. One goroutine uses it.
type allowance struct {
	ctx   context.Context
	left  int
	calls int // of pay
	err   error
}

// thread returns a thread that pays from the allowance.
func (p *allowance) thread() *starlark.Thread {
	t := &starlark.Thread{}
	t.SetLocal(result, p)
	t.SetMaxExecutionSteps(heeded)
	t.OnMaxSteps = func(t *starlark.Thread) {
		if p.err = cmp.Or(p.err, context.Cause(p.ctx)); p.err == nil && t.ExecutionSteps() >= maxSteps {
			p.err = errBudget
		}
		if p.err != nil {
			t.Cancel("")
		}
		t.SetMaxExecutionSteps(t.ExecutionSteps() + heeded)
	}
	return t
}

// spent returns what the evaluation has cost.
func (p *allowance) spent(t *starlark.Thread) int {
	return min(budget, budget-p.left) + costStep*int(t.ExecutionSteps())
}

// allowanceOf returns the allowance of the evaluation on the thread.
func allowanceOf(t *starlark.Thread) *allowance { return t.Local(result).(*allowance) }

// pay subtracts the cost, and reports whether it could.
func (p *allowance) pay(cost int) bool {
	if p.calls++; p.calls%heeded == 0 && p.err == nil {
		p.err = context.Cause(p.ctx)
	}
	if p.err == nil && cost > p.left {
		p.err = errBudget
	}
	p.left -= cost
	return p.err == nil
}

// measure pays for a value and everything in it.
func (p *allowance) measure(v starlark.Value) {
	if !p.pay(costNode) {
		return
	}
	switch v := v.(type) {
	case starlark.String:
		p.pay(len(v))
	case starlark.Int:
		if _, ok := v.Int64(); !ok {
			p.err = errNumber
		}
	case starlark.IterableMapping:
		for _, item := range v.Items() {
			p.measure(item[0])
			p.measure(item[1])
		}
	case starlark.Sequence:
		if !p.pay(v.Len()) { // a range has no elements in memory
			return
		}
		for element := range starlark.Elements(v) {
			if p.measure(element); p.err != nil {
				return
			}
		}
	}
}

// insertPayments rewrites an expression so that its operators, slices and calls pay: x + y becomes operand(x) +
// operand(y), x[1:] becomes paid(x)[1:], and f(x) becomes call(f, x).
func insertPayments(tree syntax.Expr) {
	var nodes []syntax.Node
	syntax.Walk(tree, func(n syntax.Node) bool {
		nodes = append(nodes, n)
		return true
	})
	called := func(name string, args ...syntax.Expr) *syntax.CallExpr {
		return &syntax.CallExpr{Fn: &syntax.Ident{Name: name}, Args: args}
	}
	for _, n := range nodes {
		switch n := n.(type) {
		case *syntax.BinaryExpr:
			if n.Op != syntax.AND && n.Op != syntax.OR && n.Op != syntax.EQ {
				n.X, n.Y = called("=operand", n.X), called("=operand", n.Y)
			}
		case *syntax.SliceExpr:
			n.X = called("=paid", n.X)
		case *syntax.CallExpr:
			*n = *called("=call", append([]syntax.Expr{n.Fn}, n.Args...)...)
		}
	}
}

// payArgument pays for its argument and returns it.
func payArgument(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	p := allowanceOf(t)
	p.measure(args[0])
	return args[0], p.err
}

// operand is an operand of an operator, and is paid for.
type operand struct {
	starlark.Value
	allowance *allowance
}

func newOperand(t *starlark.Thread, f *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	v, err := payArgument(t, f, args, nil)
	return operand{v, allowanceOf(t)}, err
}

// with returns the other operand, if the operator accepts both.
func (x operand) with(op syntax.Token, y starlark.Value) (starlark.Value, error) {
	right := y.(operand).Value
	a, b := kindIn(x.Value), kindIn(right)
	if _, ok := operate(op, a, b); !ok && op != syntax.EQL && op != syntax.NEQ {
		return nil, fmt.Errorf("cannot apply %s to %s and %s", op, a.word(), b.word())
	}
	return right, nil
}

// Binary implements x op y for operators that do not compare.
func (x operand) Binary(op syntax.Token, y starlark.Value, _ starlark.Side) (starlark.Value, error) {
	right, err := x.with(op, y)
	if err != nil {
		return nil, err
	}
	v, err := starlark.Binary(op, x.Value, right)
	if err != nil {
		return nil, err
	}
	x.allowance.measure(v)
	return v, x.allowance.err
}

// Has implements x in c.
func (c operand) Has(x starlark.Value) (bool, error) {
	v, err := x.(operand).Binary(syntax.IN, c, starlark.Left)
	return v == starlark.True, err
}

// CompareSameType compares two operands of any types. JSON values are equal if their texts are.
func (x operand) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	right, err := x.with(op, y)
	k := kindIn(x.Value)
	switch {
	case err != nil:
		return false, err
	case k != List && k != Members:
		return starlark.CompareDepth(op, x.Value, right, depth)
	}
	same := inText(x.allowance.toJSON(x.Value)) == inText(x.allowance.toJSON(right))
	return same == (op == syntax.EQL), x.allowance.err
}

// call implements f(args). A function cannot be an argument, because nobody would pay for its calls.
func call(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	p := allowanceOf(t)
	f, ok := args[0].(*starlark.Builtin)
	if !ok {
		return nil, fmt.Errorf("%s is no function", kindIn(args[0]).word())
	}
	if args = args[1:]; f.Receiver() != nil {
		p.measure(f.Receiver())
	}
	all := slices.Clone(args)
	for _, pair := range kwargs {
		all = append(all, pair[1])
	}
	for _, a := range all {
		if p.measure(a); kindIn(a) == Value {
			return nil, fmt.Errorf("%s takes no %s as an argument", f.Name(), a.Type())
		}
	}
	s, _ := f.Receiver().(starlark.String)
	p.pay(multiplied(f.Name(), string(s), args))
	if p.err != nil {
		return nil, p.err
	}
	v, err := starlark.Call(t, f, args, kwargs)
	if err != nil {
		return nil, errors.New(err.Error())
	}
	p.measure(v)
	return v, p.err
}

// multiplied returns the cost of a function whose work or result can be much larger than its arguments.
func multiplied(name, s string, args starlark.Tuple) int {
	text := func(i int) (s string) {
		if i < len(args) {
			s, _ = starlark.AsString(args[i])
		}
		return s
	}
	switch name {
	case "split", "splitlines":
		if text(0) == "" {
			return costNode / 2 * len(s)
		}
		return costNode * strings.Count(s, text(0))
	case "replace":
		return strings.Count(s, text(0)) * len(text(1))
	case "join":
		if len(args) > 0 {
			return len(s) * max(starlark.Len(args[0]), 0)
		}
	case "int":
		return len(text(0)) * len(text(0))
	}
	return 0
}

// builtins are what expressions call besides Starlark's own functions.
var builtins = starlark.StringDict{
	"=paid":    starlark.NewBuiltin("paid", payArgument),
	"=operand": starlark.NewBuiltin("operand", newOperand),
	"=call":    starlark.NewBuiltin("call", call),
	"get":      starlark.NewBuiltin("get", get),
	"sum":      starlark.NewBuiltin("sum", sum),
	"json":     Record{"decode": starlark.NewBuiltin("json.decode", decode)},
}
