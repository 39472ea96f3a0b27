package rank_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const twoOptions = `
-- go.mod --
module example.com/frob
-- README.md --
# Frob

Frob is a library that turns widgets.

    import "example.com/frob/wheel"

    w := wheel.NewTurner(wheel.Options{})
    w.Spin(Brake)
-- wheel/wheel.go --
package wheel

// Options say how fast a wheel turns.
type Options struct{}

// Turner is what turns the wheels.
type Turner struct{}

// Spin lets the turner go round for a while.
func (t *Turner) Spin() {}
-- rope/rope.go --
package rope

// Options say how long a rope may be.
type Options struct{}

// Brake is another thing by that name.
type Brake struct{}
`

func TestANameIsUsedWithItsPackage(t *testing.T) {
	used := usedIn(build(t, twoOptions, scan.Origin{}, rank.Options{}))
	if want := []string{"wheel.Options", "wheel.Turner", "wheel.Turner.Spin"}; !slices.Equal(used, want) {
		t.Errorf("used are %q, want %q", used, want)
	}
}

func TestANameOfTwoModulesIsUsedWhereItIsImportedFrom(t *testing.T) {
	used := usedIn(build(t, `
-- pyproject.toml --
[project]
name = "frob"
-- README.md --
# Frob

Frob is a library that turns widgets.

    from frob.wheel import Turner
-- frob/__init__.py --
"""Frob turns widgets."""
-- frob/wheel.py --
class Turner:
    """Turns one of the wheels."""
-- frob/rope.py --
class Turner:
    """Turns one of the ropes."""
`, scan.Origin{}, rank.Options{}))
	if want := []string{"frob.wheel.Turner"}; !slices.Equal(used, want) {
		t.Errorf("used are %q, want %q", used, want)
	}
}

func TestAStemOfTwoFilesIsNoUse(t *testing.T) {
	index := build(t, `
-- package.json --
{"name": "frob", "main": "index.js"}
-- README.md --
# Frob

Frob is a library that turns widgets.

    new Frobber(new WidgetBox())
-- index.js --
exports.frob = 1
-- one/WidgetBox.js --
exports.a = 1
-- two/WidgetBox.js --
exports.b = 2
-- two/Frobber.js --
exports.c = 3
`, scan.Origin{}, rank.Options{})
	for file, want := range map[string]bool{"two/Frobber.js": true, "one/WidgetBox.js": false, "two/WidgetBox.js": false} {
		if l := find(index, file); slices.Contains(l.Reasons, "used by the README's code") != want {
			t.Errorf("the reasons of %s are %q", file, l.Reasons)
		}
	}
}

func usedIn(index *rank.Index) []string {
	var used []string
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if s.Name == "API" && slices.Contains(l.Reasons, "used by the README's code") {
				used = append(used, l.Title)
			}
		}
	}
	slices.Sort(used)
	return used
}

func TestEveryLinkHasReasonsInGoodGrammar(t *testing.T) {
	for _, archive := range []string{project, twoOptions, `
-- README.md --
# Frob

Frob is a thing that turns widgets.
-- src/ab.sh --
echo
-- src/cd.sh --
echo 1
`} {
		for _, s := range build(t, archive, scan.Origin{}, rank.Options{}).Sections {
			for _, l := range s.Links {
				all := strings.Join(l.Reasons, "; ")
				if all == "" || strings.Contains(all, "1 page link ") {
					t.Errorf("the reasons of %s are %q", l.Path, all)
				}
			}
		}
	}
}
