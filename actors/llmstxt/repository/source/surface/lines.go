package surface

import (
	"context"
	"strings"
)

// Lines is a text that is read line by line.
type Lines struct {
	Clock
	All     []string
	Next    int // index of the line to read, and so the number of the one that was read last
	unended int // texts that seemed to begin and had no end
}

// NewLines gives the lines of a text until nobody waits for them any more.
func NewLines(ctx context.Context, text []byte) Lines {
	return Lines{Clock: Clock{Context: ctx}, All: strings.Split(string(text), "\n")}
}

// More tells whether there is a line to read.
func (l *Lines) More() bool { return l.Next < len(l.All) && !l.Over() }

// Take gives the next line.
func (l *Lines) Take() string {
	l.Next++
	return l.All[l.Next-1]
}

// So many texts may seem to begin and have no end until none is looked for any more.
const mostUnended = 20

// EndOf is the index of the line that ends a text with a tag, behind an indentation of the bytes; -1 where there is
// none.
func (l *Lines) EndOf(tag, indentation string) int {
	if l.unended < mostUnended {
		for i := l.Next; i < len(l.All); i++ {
			if strings.TrimLeft(l.All[i], indentation) == tag {
				return i
			}
		}
		l.unended++
	}
	return -1
}

// Lists do not go on over more lines than this.
const longestList = 60

// List splits s after the bracket that closes its first one, on a later line perhaps; those lines are taken. Code is
// what a line has of the list, and tells whether it may be of it. Without an end the list is empty.
func (l *Lines) List(s string, code func(line string) (text string, ok bool)) (list, after string) {
	end, whole := Closing(s), s
	for n := l.Next; end < 0 && n < len(l.All) && n-l.Next < longestList; n++ {
		text, ok := code(l.All[n])
		if !ok {
			break
		}
		whole += " " + text
		if end = Closing(whole); end >= 0 {
			l.Next = n + 1
			break
		}
	}
	if end < 0 {
		return "", s
	}
	return Joined(whole[:end]), whole[end:]
}

// Blocks are those that a line is in, by indentation: what ends a block stands below what began it.
type Blocks[T any] struct {
	Outside T // what stands around all
	open    []T
	indents []int
}

// Depth is how many blocks the line is in.
func (b *Blocks[T]) Depth() int { return len(b.open) }

// Block is the innermost one.
func (b *Blocks[T]) Block() *T {
	if len(b.open) == 0 {
		outside := b.Outside
		return &outside
	}
	return &b.open[len(b.open)-1]
}

// Open begins a block on a line of the indentation.
func (b *Blocks[T]) Open(indent int, block T) {
	b.open, b.indents = append(b.open, block), append(b.indents, indent)
}

// Enter leaves the blocks that began further to the right.
func (b *Blocks[T]) Enter(indent int) {
	for n := len(b.open) - 1; n >= 0 && b.indents[n] > indent; n-- {
		b.open, b.indents = b.open[:n], b.indents[:n]
	}
}

// End leaves the block that began at this indentation, with those in it.
func (b *Blocks[T]) End(indent int) {
	b.Enter(indent)
	if n := len(b.open) - 1; n >= 0 && b.indents[n] == indent {
		b.open, b.indents = b.open[:n], b.indents[:n]
	}
}
