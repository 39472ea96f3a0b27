package confined

import (
	"os"

	"github.com/seed889630bf/lastword/messages"
)

// Private refuses a folder in which others could put what this user then reads and writes: a link, a folder of somebody
// else's, and one that everybody may write.
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
