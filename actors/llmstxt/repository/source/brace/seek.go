package brace

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

// Search goes from token to token. Next gives the token after i, or no more than i where the search ends. What it
// gives must depend on the name, i and the end of the search alone.
type Search struct {
	Name  string
	Texts []string // that end it, too
	Next  func(i int) int
}

// Seek is the token where the search from i ends; "to" where that is further, or where nobody waits for it any more.
func (s *File) Seek(i, to int, way Search) int {
	var passed []landmark
	name := ""
	for steps := 0; i < to && !s.IsOneOf(i, way.Texts...); steps++ {
		next := way.Next(i)
		if next <= i {
			break
		}
		if s.Over() {
			return to
		}
		if steps >= strollSteps && next/strollSteps > i/strollSteps {
			if name == "" {
				name = way.Name + " " + strings.Join(way.Texts, " ")
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

// Once is the token where a search ends that find makes, which is asked once for each place to search from and to.
func (s *File) Once(search string, at, to int, find func() int) int {
	mark := landmark{search, at, to}
	end, ok := s.landings[mark]
	if !ok {
		end = find()
		s.landings[mark] = end
	}
	return end
}

// Until is the first token from i that is one of the texts, outside of groups; end where there is none.
func (s *File) Until(i, end int, texts ...string) int {
	return s.Seek(i, end, Search{Name: "until", Texts: texts, Next: s.Skip})
}

// UntilTyped is until where type arguments are groups, too.
func (s *File) UntilTyped(i, end int, texts ...string) int {
	return s.Seek(i, end, Search{Name: "typed", Texts: texts, Next: s.SkipTyped})
}

// StatementEnd is the token from i where the line of a statement ends, or that is one of the texts. goesOn tells
// whether a statement continues with a token on a line of its own.
func (s *File) StatementEnd(name string, i, end int, goesOn func(i int) bool, texts ...string) int {
	return s.Seek(i, end, Search{Name: name, Texts: texts, Next: func(i int) int {
		if s.At(i).Kind == CloseToken || s.Breaks(i) && !goesOn(i) {
			return i
		}
		return s.Skip(i)
	}})
}

// SkipTyped is skip where type arguments are a group, too.
func (s *File) SkipTyped(i int) int {
	if next := s.Angles(i); next > i {
		return next
	}
	return s.Skip(i)
}

// Attributes is the token after all attributes from i on.
func (s *File) Attributes(i int) int {
	if s.Attrs == nil {
		return i
	}
	return s.Seek(i, len(s.Tokens)+1, Search{Name: "attributes", Next: func(i int) int { return s.Attrs(s, i) }})
}

// A body is read again for each name that it is exported by. All of this together takes no longer than so many
// readings of the file.
const mostReadings = 4 * DeepestScope

func (s *File) MayExpand(tokens int) bool {
	s.expanded += tokens
	return s.expanded <= mostReadings*len(s.Tokens)
}
