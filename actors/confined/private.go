package confined

import (
	"os"

	"github.com/seed889630bf/lastword/messages"
)

// Private returns an error if others could put files into the folder: a link, a folder of another user, or one that
// everybody may write to.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return refusal(dir, info)
	case isOthers(info):
		return refused{messages.InvalidInput("others may write the folder %s; give one of your own, or run chmod o-w", dir)}
	}
	return nil
}
