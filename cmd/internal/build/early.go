package build

import (
	"fmt"
	"os"
	"slices"
)

// init answers version before the packages after this one are initialized: see the comment of the package.
func init() {
	if slices.Equal(os.Args[1:], []string{"version"}) || slices.Equal(os.Args[1:], []string{"--version"}) {
		if _, err := fmt.Println(This()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}
