package manifest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// element is an XML element without its children.
type element struct {
	path  string // names from the root on, joined by slashes, without name spaces
	text  string
	attrs []xml.Attr
}

func (e element) attr(name string) string {
	for _, a := range e.attrs {
		if strings.EqualFold(a.Name.Local, name) {
			return a.Value
		}
	}
	return ""
}

// walkXML visits the elements as they end. Entities other than the five of XML itself are left as they stand.
func walkXML(text string, visit func(element)) error {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var open []element
	for {
		tok, err := d.RawToken()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(open) > depth {
				return errors.New("elements are nested too deeply")
			}
			e := element{path: t.Name.Local, attrs: append([]xml.Attr(nil), t.Attr...)}
			if len(open) > 0 {
				e.path = open[len(open)-1].path + "/" + e.path
			}
			open = append(open, e)
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(t)
			}
		case xml.EndElement:
			if len(open) > 0 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				last.text = strings.TrimSpace(last.text)
				visit(last)
			}
		}
	}
}
