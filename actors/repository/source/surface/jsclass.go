package surface

// class adds the public methods and accessors of the class whose body begins at token i.
func (j *jsScope) class(i int, name string) {
	from, to := j.inside(i)
	for i = from; i < to && !j.full() && j.mayExpand(1); {
		i = max(j.classMember(i, to, name), i+1)
	}
}

func (j *jsScope) classMember(start, to int, class string) int {
	i := j.attributes(start)
	hidden := false
	kind := Method
	for j.isModifier(i) {
		hidden = hidden || j.isOneOf(i, "private", "protected")
		if j.isOneOf(i, "get", "set") {
			kind = Variable
		}
		i++
	}
	if j.is(i, "{") {
		return j.skip(i)
	}
	if !j.isWord(i) {
		return j.otherMember(i, to)
	}
	name := i
	if i++; j.isOneOf(i, "?", "!") {
		i++
	}
	end, next, isFunction := j.memberEnd(i, to)
	if isFunction && !hidden && j.str(name)[0] != '_' && !j.isInternal(start) {
		j.add(Symbol{Name: class + "." + j.str(name), Kind: kind, Signature: j.signature(start, end),
			Doc: j.doc(start), Line: int(j.at(name).line)})
	}
	return next
}

func (j *jsScope) isModifier(i int) bool {
	if j.is(i, "*") {
		return true
	}
	switch j.str(i) {
	case "public", "private", "protected", "static", "readonly", "abstract", "override", "async", "declare", "accessor",
		"get", "set":
		return !j.isOneOf(i+1, "(", "=", ";", ":", "<", "?", "!", "}", ",")
	}
	return false
}

// memberEnd reads what follows the name of a member: end is where its signature ends, next the token after the
// member.
func (j *jsScope) memberEnd(i, to int) (end, next int, isFunction bool) {
	if j.isOneOf(i, "(", "<") {
		end = j.heading(i, to)
		if j.is(end, "{") {
			return end, j.skip(end), true
		}
		return end, end, true
	}
	if j.is(i, ":") {
		i = j.typeEnd(i+1, to)
	}
	if !j.is(i, "=") {
		return i, i, false
	}
	v := j.value(i+1, to)
	return v.sig, v.end, v.kind == Function
}

// otherMember passes over #private, [computed] and 'quoted' members.
func (j *jsScope) otherMember(i, to int) int {
	switch {
	case j.is(i, "#"):
		i++
	case j.is(i, ";"):
		return i + 1
	}
	_, next, _ := j.memberEnd(j.skip(i), to)
	return next
}
