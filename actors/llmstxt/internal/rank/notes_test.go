package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestNotesHaveNoResidue defends "residue (`](@id …)`, ` ```not_rust`, `2#`, licence headers) and warnings out of
// context got through".
func TestNotesHaveNoResidue(t *testing.T) {
	const more = "\n## One part\n\n## Other part\n"
	index := build(t, `
-- README.md --
# Frob

Frob is a library for widgets.
-- docs/grids.md --
# [Grids](@id man-grids)

Grids are where widgets stand on their own, see [Rows](@ref) and [Cells][frob.Cell] for all.
-- docs/warned.md --
# Warned

⚠️ This is a work in progress ⚠️
`+more+`
-- docs/part.md --
Routes lead widgets to where they belong.

# Example

A first sentence that only the example has.
-- docs/list.md --
## Round widgets

_For pictures of each, and more, see:_

- [Ball](ball.rs)

## Square widgets

- [Box](box.rs)
-- docs/turn.md --
# Turn

int turn(const char *widget, size_t times, int options)

Turns a widget as often as it is told to.
-- docs/errors.md --
# Errors

`+"```{eval-rst}\n.. currentmodule:: frob\n```"+`

Errors say which widget failed, and why.
-- docs/api.rst --
Align
=====

.. automodule:: frob.align
    :members:
-- docs/whole.rst --
.. include:: turn.md
-- docs/steps.md --
# $ Steps

- Take a widget by both of its ends.
-- Cargo.toml --
[package]
name = "frob"
-- src/lib.rs --
//! `+"```not_rust"+`
//! cargo run -p frob
//! `+"```"+`
pub fn turn() {}
pub fn roll() {}
-- src/Old.java --
package a;
/**
 * Repository class for <code>Widget</code> domain objects.
 */
public class Old { public void a() {} }
-- src/numbered.rs --
//! 2# of the list that a tool has numbered
pub fn one() {}
pub fn two() {}
-- src/bsd.rs --
// Redistribution and use in source and binary forms, with or without modification, are permitted.
pub fn three() {}
pub fn four() {}
`, scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{
		"docs/grids.md":  "Grids are where widgets stand on their own, see Rows and Cells for all.",
		"docs/warned.md": "",
		"docs/list.md":   "",
		"docs/turn.md":   "Turns a widget as often as it is told to.",
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
	index := build(t, `
-- README.md --
# Frob

Frob is a library for widgets.
-- man/frob.1 --
.\" (c) Jane Doe
.ig
Nobody reads this text of a licence.
..
.TH FROB 1 "2020"
.SH NAME
frob \- turns widgets around
.SH DESCRIPTION
\fBFrob\fR reads them.
-- man/bsd.8 --
.Dd today
.Dt BSD 8
.Sh NAME
.Nm bsd
.Nd serves widgets to others
-- docs/frob.yml.adoc --
= frob.yml(5)
:date: {localdate}
:man manual: File Formats
:man source: frob {frob_version}

== NAME
frob.yml - what is known of the widgets of a project
-- man/frob.3 --
.TH frob 3 "July 17, 2021"
.SH
NAME
.PP
\f[B]frob\f[] \- turning of \f(CWwidgets\fP in C
.SH
DESCRIPTION
.PP
\fIchar *\f[] \fBfrob_turn\f[](\fIconst char *text\f[], \fIsize_t len\f[])
-- lib/Frob.pod --
=head1 NAME

Frob::Widget - an object for a B<widget>

=head1 DESCRIPTION

Widgets are L<made|Maker>.
`, scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{"man/frob.1": "turns widgets around", "man/bsd.8": "serves widgets to others",
		"lib/Frob.pod": "an object for a widget", "man/frob.3": "turning of widgets in C",
		"docs/frob.yml.adoc": "what is known of the widgets of a project"})
	for file, title := range map[string]string{"man/frob.1": "frob(1)", "man/bsd.8": "bsd(8)", "lib/Frob.pod": "Frob::Widget"} {
		if got := find(index, file).Title; got != title {
			t.Errorf("%s is titled %q", file, got)
		}
	}
}
