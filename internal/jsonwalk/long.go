package jsonwalk

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// least is the size of a long string, in bytes. encoding/json copies strings several times, which matters from here on.
const least = 64 << 10

// Long holds the long strings that were cut out of a value, or of a JSON text. A short mark stands in the place of each.
type Long struct {
	mark  string
	texts []string // of a value
	raw   [][]byte // of a JSON text, in their quotes
	taken int      // how many of them were put back
}

// next returns the mark of the n-th string.
func (l *Long) next(n int) string {
	if l.mark == "" {
		l.mark = "long-" + rand.Text() + "-"
	}
	return l.mark + strconv.Itoa(n)
}

// Cut returns the value with marks in place of its long strings, and those. It copies what holds a long string, and
// changes nothing. Values of maps stay.
func Cut(v any) (any, *Long) {
	l := &Long{}
	if short := l.cut(reflect.ValueOf(&v).Elem(), 0); short.IsValid() {
		return short.Interface(), l
	}
	return v, l
}

// cut returns a copy of the value without long strings, or the zero Value if it has none.
func (l *Long) cut(v reflect.Value, depth int) (short reflect.Value) {
	change := func() reflect.Value {
		if !short.IsValid() {
			short = reflect.New(v.Type()).Elem()
			short.Set(v)
		}
		return short
	}
	if depth > 50 {
		return short
	}
	switch v.Kind() {
	case reflect.String:
		if v.Len() >= least {
			change().SetString(l.next(len(l.texts)))
			l.texts = append(l.texts, v.String())
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			break
		}
		if e := l.cut(v.Elem(), depth+1); e.IsValid() && v.Kind() == reflect.Interface {
			change().Set(e)
		} else if e.IsValid() {
			change().Set(e.Addr())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if e := l.cut(v.Field(i), depth+1); e.IsValid() {
				change().Field(i).Set(e)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		for i := range v.Len() {
			if e := l.cut(v.Index(i), depth+1); e.IsValid() {
				if !short.IsValid() {
					change().Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
					reflect.Copy(short, v)
				}
				short.Index(i).Set(e)
			}
		}
	}
	return short
}

// pieces calls part with the parts of the JSON text, and long with the number of the string after it. It returns false if
// a mark is not where a string stands, or if they are not as many as count.
func (l *Long) pieces(short []byte, count int, part func([]byte), long func(number int)) bool {
	for n := 0; ; n++ {
		i := -1
		if l.mark != "" {
			i = bytes.Index(short, []byte(`"`+l.mark))
		}
		if i < 0 {
			part(short)
			return n == count
		}
		digits, rest, _ := bytes.Cut(short[i+1+len(l.mark):], []byte(`"`))
		number, err := strconv.Atoi(string(digits))
		if err != nil {
			return false
		}
		part(short[:i])
		long(number)
		short = rest
	}
}

// Splice returns the JSON text with its long strings. With change, they are changed first. ok is false if the text has
// no mark where one belongs.
func (l *Long) Splice(short []byte, change func(string) string) (whole []byte, ok bool) {
	if len(l.texts) == 0 {
		return short, true
	}
	if change != nil {
		for i := range l.texts {
			l.texts[i] = change(l.texts[i])
		}
	}
	var size counter
	if !l.write(&size, short) {
		return nil, false
	}
	out := bytes.NewBuffer(make([]byte, 0, int(size)))
	ok = l.write(out, short)
	return out.Bytes(), ok
}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// write writes the JSON text with its long strings.
func (l *Long) write(w io.Writer, short []byte) bool {
	return l.pieces(short, len(l.texts), func(part []byte) { _, _ = w.Write(part) }, func(number int) { quote(w, l.texts[number]) })
}

// quote writes the string as json.Marshal does, in parts that begin with a character.
func quote(w io.Writer, text string) {
	mark := []byte(`"`)
	_, _ = w.Write(mark)
	for encoder := json.NewEncoder(inner{w}); text != ""; {
		end := min(len(text), least/4)
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		_ = encoder.Encode(text[:end]) // a string is JSON
		text = text[end:]
	}
	_, _ = w.Write(mark)
}

// inner writes a quoted line without its quotes and its end.
type inner struct{ io.Writer }

func (w inner) Write(b []byte) (int, error) {
	_, err := w.Writer.Write(b[1 : len(b)-2])
	return len(b), err
}

// Marshal returns what json.Marshal returns, and copies no long string twice.
func Marshal(v any) ([]byte, error) {
	cut, long := Cut(v)
	short, err := json.Marshal(cut)
	if err == nil {
		if whole, ok := long.Splice(short, nil); ok {
			return whole, nil
		}
	}
	return json.Marshal(v)
}

// Write writes what json.Marshal returns.
func Write(w io.Writer, v any) error {
	cut, long := Cut(v)
	short, err := json.Marshal(cut)
	if err == nil && long.write(new(counter), short) {
		long.write(w, short)
		return nil
	}
	if short, err = json.Marshal(v); err == nil {
		_, err = w.Write(short)
	}
	return err
}

// Unmarshal decodes JSON into the value, by a function such as json.Unmarshal. The function sees marks in place of long
// strings, which so are copied once. If it refuses them, or puts them elsewhere than into strings, it sees the text itself.
func Unmarshal(text []byte, into any, decode func([]byte, any) error) error {
	if len(text) < least {
		return decode(text, into)
	}
	l := &Long{}
	short := l.cutText(text)
	if l.raw == nil {
		return decode(text, into)
	}
	v := reflect.ValueOf(into).Elem()
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	if decode(short, into) == nil && l.restore(v, 0) && l.taken == len(l.raw) {
		return nil
	}
	v.Set(before)
	return decode(text, into)
}

// cutText returns JSON with marks in place of its long strings, keys excepted. It remembers them in their quotes.
func (l *Long) cutText(text []byte) (short []byte) {
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := quoted(text, i)
		if end < 0 {
			break
		}
		if next := space(text, end); end-i >= least && (next == len(text) || text[next] != ':') {
			short = append(append(short, text[done:i]...), `"`+l.next(len(l.raw))+`"`...)
			l.raw = append(l.raw, text[i:end])
			done = end
		}
		i = end - 1
	}
	return append(short, text[done:]...)
}

// restore puts the long strings back where their marks are. It returns false if one is not valid.
func (l *Long) restore(v reflect.Value, depth int) (ok bool) {
	if ok = true; depth > 50 {
		return ok
	}
	switch k := v.Kind(); {
	case k == reflect.String:
		digits, marked := strings.CutPrefix(v.String(), l.mark)
		if number, err := strconv.Atoi(digits); marked && err == nil {
			l.taken++
			var text string
			text, ok = unquote(l.raw[number])
			v.SetString(text)
		}
	case k == reflect.Pointer && !v.IsNil():
		return l.restore(v.Elem(), depth+1)
	case k == reflect.Interface && !v.IsNil():
		e := reflect.New(v.Elem().Type()).Elem()
		e.Set(v.Elem())
		ok = l.restore(e, depth+1)
		v.Set(e)
	case k == reflect.Struct:
		for i := range v.NumField() {
			ok = ok && (!v.Type().Field(i).IsExported() || l.restore(v.Field(i), depth+1))
		}
	case k == reflect.Map:
		for i := v.MapRange(); i.Next(); {
			e := reflect.New(i.Value().Type()).Elem()
			e.Set(i.Value())
			if taken := l.taken; ok && l.restore(e, depth+1) && l.taken > taken {
				v.SetMapIndex(i.Key(), e)
			}
		}
	case k == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		if raw := v.Bytes(); bytes.Contains(raw, []byte(l.mark)) {
			size := 0
			l.pieces(raw, 0, func(part []byte) { size += len(part) }, func(number int) { size += len(l.raw[number]); l.taken++ })
			whole := make([]byte, 0, size)
			l.pieces(raw, 0, func(part []byte) { whole = append(whole, part...) }, func(number int) { whole = append(whole, l.raw[number]...) })
			v.SetBytes(whole)
		}
	case k == reflect.Slice:
		for i := range v.Len() {
			ok = ok && l.restore(v.Index(i), depth+1)
		}
	}
	return ok
}

// unquote returns the string of a JSON literal.
func unquote(raw []byte) (string, bool) {
	if !utf8.Valid(raw) {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(raw))
	for rest := raw[1 : len(raw)-1]; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			b.Write(rest)
			return b.String(), true
		}
		b.Write(rest[:i])
		end := i + 2
		if n := strings.IndexByte(`"\/bfnrt`, rest[i+1]); n >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[n])
		} else {
			r := hex(rest[i:])
			end = i + len(`\u0000`)
			if utf16.IsSurrogate(r) {
				pair := utf16.DecodeRune(r, hex(rest[end:]))
				if pair != utf8.RuneError {
					end += len(`\u0000`)
				}
				r = pair
			}
			b.WriteRune(r)
		}
		rest = rest[end:]
	}
}

// hex returns the number of the escape \u0000 at the beginning of the text, or -1.
func hex(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return -1
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16) // quoted has found four digits
	return rune(n)
}
