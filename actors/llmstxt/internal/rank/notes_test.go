package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestNotesHaveNoResidue defends "residue (`](@id …)`, ` ```not_rust`, `2#`, licence headers) and warnings out of
// context got through".
func TestNotesHaveNoResidue(t *testing.T) {
	index := build(t, fixture(t, "notes_have_no_residue"), scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{
		"docs/grids.md":  "Grids are where widgets stand on their own, see Rows and Cells for all.",
		"docs/warned.md": "",
		"docs/list.md":   "",
		"docs/turn.md":   "Turns a widget as often as it is told to.",
		"docs/kit.md":    "", "docs/events.md": "", "docs/roles.md": "The turn decorator and frob.Widget belong together.",
		"docs/errors.md": "Errors say which widget failed, and why.",
		"docs/whole.rst": "Turns a widget as often as it is told to.",
		"docs/part.md":   "Routes lead widgets to where they belong.",
		"src/lib.rs":     "`turn`, `roll`", "src/numbered.rs": "`one`, `two`", "src/bsd.rs": "`three`, `four`",
	})
	for file, title := range map[string]string{"docs/grids.md": "Grids", "docs/part.md": "Part",
		"docs/list.md": "List", "docs/steps.md": "Steps"} {
		if got := find(index, file).Title; got != title {
			t.Errorf("%s is titled %q", file, got)
		}
	}
	for file, want := range map[string]string{"docs/api.rst": "the API of `frob.align`", "docs/steps.md": "Take a widget by both of its ends."} {
		if got := find(index, file).Contents; got != want {
			t.Errorf("%s holds %q", file, got)
		}
	}
}

func TestNotesOfManuals(t *testing.T) {
	index := build(t, fixture(t, "notes_of_manuals"), scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{"man/frob.1": "turns widgets around", "man/bsd.8": "serves widgets to others",
		"lib/Frob.pod": "an object for a widget", "man/frob.3": "turning of widgets in C",
		"docs/frob.yml.adoc": "what is known of the widgets of a project"})
	for file, title := range map[string]string{"man/frob.1": "frob(1)", "man/bsd.8": "bsd(8)", "lib/Frob.pod": "Frob::Widget"} {
		if got := find(index, file).Title; got != title {
			t.Errorf("%s is titled %q", file, got)
		}
	}
}
