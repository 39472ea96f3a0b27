// Package rank chooses what of a scanned repository belongs in an llms.txt.
//
// [Build] turns a [scan.Repository] into an [Index]: title, one-line summary with the place it was taken from and
// why, facts, and sections of links with scores, reasons and the public surface of what they lead to. Everything in
// it is quoted from the repository: summaries from the README, a manifest or the code, whichever says most; notes
// from the first sentence of a page, a package comment or a docstring that says something by itself, and the names of
// what a source declares. Nothing is made up: where there is no such sentence, there is no note.
//
// Files get points for evidence, in this order:
//
//   - What the maintainers have put in order: a structured file that names four or more pages is navigation, and so
//     are toctrees, pages that mostly list others, and numbered pages; then the links of the README and CONTRIBUTING.
//   - What the code says of itself: entry points, packages by their importers, and what sources use of each other, read
//     once for the graph of packages, too. What uses much counts most, then what is used, then what pages and tests name.
//   - Words of paths, as weak evidence that use by the product overrides.
//
// Tests, generated and foreign files, translations and older versions are left out whatever speaks for them. Pages and
// sources share the room by how many there are of each; Optional is kept whatever the room.
//
// A fact needs a page that says it, or a manifest that proves that the package is published.
//
// The order is total and depends on the files alone. The work is bounded: the heads of a few hundred of the likeliest
// documents and of a few thousand sources are read, and only what is listed in the end is parsed.
package rank
