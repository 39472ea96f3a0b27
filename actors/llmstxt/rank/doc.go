// Package rank chooses what of a scanned repository belongs in an llms.txt.
//
// [Build] turns a [scan.Repository] into an [Index]: title, one-line summary with the place it was taken from and
// why, facts, and sections of links with scores, reasons and the public surface of what they lead to. Everything in
// it is quoted from the repository: summaries from the README, a manifest or the code, whichever says most; notes
// from the first sentence of a page, a package comment or a docstring that says something by itself. Nothing is made
// up: where there is no such sentence a page shows its headings, a source what it declares and a file of settings what
// it sets up, and else there is no note.
//
// A survey reads what says most about the whole: the README, the manifests, the languages. Then judges give points: one
// for pages, one for sources and what they declare. Their weights are in weights.go, their words in the package words; what a
// page and a source say is read by the packages page and source, which know no repository.
//
// What a file says decides, not the folder it is in: headings, prose and the shape of pages give the section;
// manifests' entry points, imports, and what the README, pages, tests and examples name give the order. Folders mark
// what is around the product: its build, its tests, what others made. Below a source root they are packages, and mark
// nothing. The order is total and depends on the files alone.
//
// The work is bounded: the heads of a few hundred of the likeliest documents and sources are read, and only what is
// listed in the end is parsed.
package rank
