package oracle_test

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// sample draws a text that the expression matches, as people write such texts: names in lower case, the shortest
// surroundings, and values of letters, digits and marks of ASCII.
func sample(random *rand.Rand, expression string) (string, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	draw(random, &b, parsed)
	return b.String(), nil
}

func draw(random *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = strings.ToLower(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		b.WriteRune(oneOf(random, re))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			draw(random, b, sub)
		}
	case syntax.OpAlternate:
		draw(random, b, re.Sub[0])
	case syntax.OpPlus:
		for range 12 {
			draw(random, b, re.Sub[0])
		}
	case syntax.OpRepeat:
		if re.Min == 0 && re.Max == 20 {
			b.WriteString("_token") // what follows the name of a service
		}
		for range re.Min + (min(re.Max, 3*re.Min)-re.Min)/2 {
			draw(random, b, re.Sub[0])
		}
	}
}

func oneOf(random *rand.Rand, class *syntax.Regexp) rune {
	var list []rune
	for _, kind := range []string{"abcdefghijkmnpqrtuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ0123456789", "_-+/=.", "\"' \n"} {
		for _, r := range kind {
			for i := 0; i < len(class.Rune); i += 2 {
				if class.Rune[i] <= r && r <= class.Rune[i+1] {
					list = append(list, r)
				}
			}
		}
		if len(list) > 0 {
			break
		}
	}
	if len(list) == 0 {
		return class.Rune[0]
	}
	return list[random.IntN(len(list))]
}
