package settings

import (
	"errors"
	"strconv"
)

// Decimal is a flag's value that is a number, or nothing.
type Decimal struct{ Value *float64 }

func (d *Decimal) String() string {
	if d.Value == nil {
		return ""
	}
	return strconv.FormatFloat(*d.Value, 'g', -1, 64)
}

func (*Decimal) Type() string { return "number" }

func (d *Decimal) Set(text string) error {
	if text == "" {
		d.Value = nil
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New("it is a number like 0.7")
	}
	d.Value = &v
	return nil
}
