package build

import (
	"fmt"
	"os"
	"slices"
)

func init() {
	if slices.Equal(os.Args[1:], []string{"version"}) || slices.Equal(os.Args[1:], []string{"--version"}) {
		if _, err := fmt.Println(This()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}
