package main

import (
	"errors"
	"strconv"
)

// decimal is a flag's value that is a number, or nothing.
type decimal struct{ value *float64 }

func (d *decimal) String() string {
	if d.value == nil {
		return ""
	}
	return strconv.FormatFloat(*d.value, 'g', -1, 64)
}

func (*decimal) Type() string { return "number" }

func (d *decimal) Set(text string) error {
	if text == "" {
		d.value = nil
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New("it is a number like 0.7")
	}
	d.value = &v
	return nil
}
