// Package rank chooses which files of a scanned repository belong in an llms.txt.
//
// [Build] turns a [scan.Repository] into an [Index]: title; a one-line summary with its source and the reason for it;
// facts; and sections of links with scores, reasons and the public surface of their files. Everything is quoted from
// the repository. Summaries come from the README, a manifest or the code, whichever says most. Notes come from the
// first sentence of a page, a package comment or a docstring, if that sentence says something by itself, and from the
// names that a source declares. Nothing is made up: without such a sentence there is no note.
//
// Files get points for evidence, in this order:
//
//   - The maintainers' own order. A structured file that names four or more pages is navigation; so are toctrees,
//     pages that mostly list others, and numbered pages. Links of the README follow.
//   - What the code says about itself: entry points, packages by their number of importers, and which sources use
//     each other, which is also read for the graph of packages. A source that uses much counts most, then one that is
//     used.
//   - Words of paths: weak evidence, which use by the product overrides.
//
// Tests, generated and foreign files, translations and older versions are left out whatever their evidence. Pages and
// sources share the room in proportion to their numbers. Optional is kept regardless of the room.
//
// A fact needs a page that states it, or a manifest that proves that the package is published.
//
// The order is total and depends only on the files. The work is bounded: the heads of a few hundred promising
// documents and a few thousand sources are read, and only files that are finally listed are parsed.
package rank
