package javascript

import "github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"

// class adds the public methods and accessors of the class whose body begins at token i.
func (j *jsScope) class(i int, name string) {
	from, to := j.Inside(i)
	j.Each(from, to, func(i int) int {
		if !j.MayExpand(1) {
			return to
		}
		return j.classMember(i, to, name)
	})
}

func (j *jsScope) classMember(start, to int, class string) int {
	i := j.Attributes(start)
	hidden := false
	kind := surface.Method
	for j.isModifier(i) {
		hidden = hidden || j.IsOneOf(i, "private", "protected")
		if j.IsOneOf(i, "get", "set") {
			kind = surface.Variable
		}
		i++
	}
	if j.Is(i, "{") {
		return j.Skip(i)
	}
	if !j.IsWord(i) {
		return j.otherMember(i, to)
	}
	name := i
	if i++; j.IsOneOf(i, "?", "!") {
		i++
	}
	end, next, isFunction := j.memberEnd(i, to)
	if isFunction && !hidden && j.Str(name)[0] != '_' && !j.IsInternal(start) {
		j.Keep(class+"."+j.Str(name), kind, j.Signature(start, end), j.Doc(start), name)
	}
	return next
}

func (j *jsScope) isModifier(i int) bool {
	if j.Is(i, "*") {
		return true
	}
	switch j.Str(i) {
	case "public", "private", "protected", "static", "readonly", "abstract", "override", "async", "declare",
		"accessor", "get", "set":
		return !j.IsOneOf(i+1, "(", "=", ";", ":", "<", "?", "!", "}", ",")
	}
	return false
}

// memberEnd reads what follows the name of a member: end is where its signature ends, next the token after the
// member.
func (j *jsScope) memberEnd(i, to int) (end, next int, isFunction bool) {
	if j.IsOneOf(i, "(", "<") {
		end = j.heading(i, to)
		return end, j.SkipBody(end), true
	}
	if j.Is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	if !j.Is(i, "=") {
		return i, i, false
	}
	v := j.value(i+1, to)
	return v.sig, v.end, v.kind == surface.Function
}

// otherMember passes over #private, [computed] and 'quoted' members.
func (j *jsScope) otherMember(i, to int) int {
	switch {
	case j.Is(i, "#"):
		i++
	case j.Is(i, ";"):
		return i + 1
	}
	_, next, _ := j.memberEnd(j.Skip(i), to)
	return next
}
