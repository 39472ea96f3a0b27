package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ByteSize is a flag's value that counts bytes: 200000, 200k, 1.5MB, 64MiB. Units without an i are decimal.
type ByteSize int64

func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *ByteSize) Type() string { return "bytes" }

func (b *ByteSize) Set(text string) error {
	digits := strings.TrimRight(text, "BbKkMmGgi")
	number, err := strconv.ParseFloat(digits, 64)
	factor, ok := unit(strings.ToLower(strings.TrimPrefix(text, digits)))
	size := number * factor
	if err != nil || !ok || size < 0 || size >= math.MaxInt64 || size != size {
		return fmt.Errorf("write a number of bytes, such as 200000, 200k, 10MB or 64MiB")
	}
	*b = ByteSize(size)
	return nil
}

func unit(word string) (factor float64, ok bool) {
	switch strings.TrimSuffix(word, "b") {
	case "":
		return 1, true
	case "k":
		return 1e3, true
	case "m":
		return 1e6, true
	case "g":
		return 1e9, true
	case "ki":
		return 1 << 10, true
	case "mi":
		return 1 << 20, true
	case "gi":
		return 1 << 30, true
	}
	return 0, false
}
