package manifest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// parseXML parses XML. An element with only text becomes that text. Any other element becomes a mapping of its
// attributes, its elements, and its text under "". Entities other than the five of XML itself are kept as they are.
// Text that MSBuild computes is empty.
func parseXML(text string) (object, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	r := xmlReader{decoder: d}
	o := r.content(nil, 0)
	if errors.Is(r.err, io.EOF) {
		return o, nil
	}
	return o, r.err
}

type xmlReader struct {
	decoder *xml.Decoder
	err     error
}

// content reads up to the end of an element.
func (r *xmlReader) content(attributes []xml.Attr, level int) object {
	var o object
	for _, a := range attributes {
		o = append(o, member{a.Name.Local, a.Value})
	}
	var text strings.Builder
	for open := true; open && r.err == nil; {
		var t xml.Token
		if t, r.err = r.decoder.RawToken(); level > depth {
			r.err = errors.New("elements are nested too deeply")
		}
		switch t := t.(type) {
		case xml.StartElement:
			inside := r.content(t.Attr, level+1)
			if len(inside) == 1 && inside[0].key == "" {
				o = append(o, member{t.Name.Local, inside[0].value})
			} else {
				o = append(o, member{t.Name.Local, inside})
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			open = false
		}
	}
	if s := strings.TrimSpace(text.String()); !strings.Contains(s, "$(") {
		o = append(o, member{"", s})
	}
	return o
}
