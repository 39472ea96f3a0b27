package surface

import "strings"

// landmark is a token that a search came by, and landings are where the searches that came by it ended: what way a
// search goes on from a token does not depend on where it began. So all searches of one kind together take time
// linear in the tokens, however many of them end in vain.
type landmark struct {
	search string
	at, to int
}

// A search that takes fewer steps sets no landmarks.
const strollSteps = 32

// search goes from token to token. next gives the token after i, or no more than i where the search ends. What it
// gives must depend on the name, i and the end of the search alone.
type search struct {
	name  string
	texts []string // that end it, too
	next  func(i int) int
}

// seek is the token where the search from i ends; "to" where that is further, or where nobody waits for it any more.
func (s *source) seek(i, to int, way search) int {
	var passed []landmark
	name := ""
	for steps := 0; i < to && !s.isOneOf(i, way.texts...); steps++ {
		next := way.next(i)
		if next <= i {
			break
		}
		if s.over() {
			return to
		}
		if steps >= strollSteps && next/strollSteps > i/strollSteps {
			if name == "" {
				name = way.name + " " + strings.Join(way.texts, " ")
			}
			mark := landmark{name, i, to}
			if end, ok := s.landings[mark]; ok {
				i = end
				break
			}
			passed = append(passed, mark)
		}
		i = next
	}
	i = min(i, to)
	for _, mark := range passed {
		s.landings[mark] = i
	}
	return i
}

// until is the first token from i that is one of the texts, outside of groups; end where there is none.
func (s *source) until(i, end int, texts ...string) int {
	return s.seek(i, end, search{name: "until", texts: texts, next: s.skip})
}

// untilTyped is until where type arguments are groups, too.
func (s *source) untilTyped(i, end int, texts ...string) int {
	return s.seek(i, end, search{name: "typed", texts: texts, next: s.skipTyped})
}

// statementEnd is the token from i where the line of a statement ends, or that is one of the texts. goesOn tells whether
// a statement continues with a token on a line of its own.
func (s *source) statementEnd(name string, i, end int, goesOn func(i int) bool, texts ...string) int {
	return s.seek(i, end, search{name: name, texts: texts, next: func(i int) int {
		if s.at(i).kind == closeToken || s.breaks(i) && !goesOn(i) {
			return i
		}
		return s.skip(i)
	}})
}

// skipTyped is skip where type arguments are a group, too.
func (s *source) skipTyped(i int) int {
	if next := s.angles(i); next > i {
		return next
	}
	return s.skip(i)
}

// attributes is the token after all attributes from i on.
func (s *source) attributes(i int) int {
	if s.attrs == nil {
		return i
	}
	return s.seek(i, len(s.tokens)+1, search{name: "attributes", next: func(i int) int { return s.attrs(s, i) }})
}

// A body is read again for each name that it is exported by. All of this together takes no longer than so many
// readings of the file.
const mostReadings = 4 * deepestScope

func (s *source) mayExpand(tokens int) bool {
	s.expanded += tokens
	return s.expanded <= mostReadings*len(s.tokens)
}
