package messages

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Check returns why a journal could not write the body and read the same again, as an invalid_input error that names the
// field: a text that is not UTF-8, raw JSON that is none, or a number that JSON does not have.
func Check(b Body) error {
	if field, why := unwritable(reflect.ValueOf(b)); why != "" {
		return InvalidInput("the %s of a %s is %s", field, b.Kind(), why)
	}
	return nil
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

// unwritable returns the name of the field that cannot be written, and why not.
func unwritable(v reflect.Value) (field, why string) {
	switch k := v.Kind(); {
	case v.IsValid() && v.Type() == rawJSON:
		if v.Len() > 0 && !json.Valid(v.Bytes()) {
			return "value", "not JSON"
		}
	case k == reflect.String && !utf8.ValidString(v.String()):
		return "value", "not UTF-8"
	case k == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return "value", "no number that JSON has"
	case k == reflect.Pointer, k == reflect.Interface:
		return unwritable(v.Elem())
	case k == reflect.Slice:
		for i := 0; i < v.Len() && why == ""; i++ {
			field, why = unwritable(v.Index(i))
		}
	case k == reflect.Map:
		for i := v.MapRange(); i.Next() && why == ""; {
			if field, why = unwritable(i.Key()); why == "" {
				field, why = unwritable(i.Value())
			}
		}
	case k == reflect.Struct:
		for i := 0; i < v.NumField() && why == ""; i++ {
			if field, why = unwritable(v.Field(i)); why != "" && field == "value" {
				field = nameOf(v.Type().Field(i))
			}
		}
	}
	return field, why
}

// nameOf is the field's name in JSON.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return strings.ToLower(f.Name)
	}
	return name
}
