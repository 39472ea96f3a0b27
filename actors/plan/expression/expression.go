package expression

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// Type is the type of a value: one of those below, or an [Object].
type Type = types.Type

// Object is a type with named members.
type Object = types.Map

// The types of values. Value is any of them, known when it is there.
var (
	Text    = types.String
	Number  = types.Float64
	Integer = types.Int
	Boolean = types.Bool
	List    = types.TypeOf([]any(nil))
	Members = types.TypeOf(map[string]any(nil))
	Value   = types.Any
)

// Names says what an expression may refer to: the member of a root, such as steps.build, or a root alone, such as item.
// Its error says what is wrong with the name.
type Names func(root, member string) (Type, error)

// Expression is a checked expression.
type Expression struct {
	text    string
	program *vm.Program
}

// memory bounds what one evaluation may build, in the elements of lists.
const memory = 100_000

// longest is the most bytes of an expression, and mostNodes the most operands and operators.
const (
	longest   = 4096
	mostNodes = 200
)

// Functions are the functions that expressions may call. None of them multiplies its operands.
var Functions = slices.Concat(predicates, []string{"len", "first", "last", "keys", "values", "get", "int", "float", "string",
	"lower", "upper", "trim", "trimPrefix", "trimSuffix", "hasPrefix", "hasSuffix", "indexOf", "join", "sort", "reverse",
	"min", "max", "sum", "mean", "abs", "round", "ceil", "floor", "toJSON", "fromJSON", "type"})

// predicates call an operand for each element of a list.
var predicates = []string{"all", "any", "one", "none", "filter", "map", "count", "find", "sortBy"}

// costly are the functions of which an expression may have one.
var costly = append(slices.Clone(predicates), "toJSON")

// Compile reads an expression whose value is want, and returns all that is wrong with it.
func Compile(text string, names Names, want Type) (*Expression, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the expression has %d bytes; it may have %d", len(text), longest)
	}
	config := conf.CreateNew()
	expr.MaxNodes(mostNodes)(config)
	for name := range config.Builtins {
		if !slices.Contains(Functions, name) {
			delete(config.Builtins, name)
			config.Disabled[name] = true
		}
	}
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, shortened(err)
	}
	w := &walker{handled: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, w)
	scope, err := w.resolve(names)
	if err != nil {
		return nil, err
	}
	expr.Env(scope)(config)
	if want == Boolean {
		expr.AsBool()(config)
	}
	program, err := compiled(tree, config)
	if err != nil {
		return nil, shortened(err)
	}
	return &Expression{text, program}, nil
}

// compiled does what expr.Compile does after it has parsed.
func compiled(tree *parser.Tree, config *conf.Config) (*vm.Program, error) {
	config.Check()
	if _, err := checker.Check(tree, config); err != nil {
		return nil, err
	}
	if err := optimizer.Optimize(&tree.Node, config); err != nil {
		return nil, err
	}
	return compiler.Compile(tree, config)
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// Eval returns the value in the environment, whose roots are maps and values.
func (e *Expression) Eval(environment map[string]any) (any, error) {
	machine := vm.VM{MemoryBudget: memory}
	value, err := machine.Run(e.program, environment)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.text, shortened(err))
	}
	return value, nil
}

// True evaluates a guard.
func (e *Expression) True(environment map[string]any) (bool, error) {
	value, err := e.Eval(environment)
	if err != nil {
		return false, err
	}
	yes, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("%s: the value is %v and not true or false", e.text, value)
	}
	return yes, nil
}

// Never reports whether the value is false whatever the environment.
func (e *Expression) Never() bool {
	b, ok := e.program.Node().(*ast.BoolNode)
	return ok && !b.Value
}

// goType is the type of the value, or nil if it is known only when it is there.
func (e *Expression) goType() reflect.Type { return e.program.Node().Type() }

// shortened is the error without the picture of where it is.
func shortened(err error) error {
	if e, ok := errors.AsType[*file.Error](err); ok {
		return errors.New(e.Message)
	}
	return err
}

// walker collects what an expression refers to.
type walker struct {
	members []*ast.MemberNode
	roots   []*ast.IdentifierNode
	handled map[ast.Node]bool
	wrong   []error
	costly  int
}

// Visit sees the operands of a node before the node.
func (w *walker) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		w.roots = append(w.roots, n)
	case *ast.MemberNode:
		root, ok := n.Node.(*ast.IdentifierNode)
		if _, named := n.Property.(*ast.StringNode); ok && named {
			w.members = append(w.members, n)
			w.handled[root] = true
		}
	case *ast.CallNode:
		w.handled[n.Callee] = true
		w.wrong = append(w.wrong, fmt.Errorf("there is no function %s; there are %s", n.Callee, strings.Join(Functions, ", ")))
	case *ast.VariableDeclaratorNode:
		w.wrong = append(w.wrong, errors.New("an expression has no variables of its own"))
	case *ast.BuiltinNode:
		if slices.Contains(costly, n.Name) {
			w.costly++
		}
	}
}

// resolve returns the environment's types.
func (w *walker) resolve(names Names) (Object, error) {
	scope, wrong := Object{}, w.wrong
	if w.costly > 1 {
		wrong = append(wrong, fmt.Errorf("an expression has at most one of %s", strings.Join(costly, ", ")))
	}
	for _, n := range w.members {
		root, member := n.Node.(*ast.IdentifierNode).Value, n.Property.(*ast.StringNode).Value
		t, err := names(root, member)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if t == nil { // the root is a value
			w.handled[n.Node] = false
			continue
		}
		of, _ := scope[root].(Object)
		if of == nil {
			of = Object{}
			scope[root] = of
		}
		of[member] = t
	}
	for _, n := range w.roots {
		if w.handled[n] {
			continue
		}
		t, err := names(n.Value, "")
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		scope[n.Value] = t
	}
	return scope, errors.Join(wrong...)
}
