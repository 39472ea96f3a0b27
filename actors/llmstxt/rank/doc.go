// Package rank chooses what of a scanned repository belongs in an llms.txt.
//
// [Build] turns a [scan.Repository] into an [Index]: title, one-line summary with the place it was taken from and
// why, facts, and sections of links with scores, reasons and the public surface of what they lead to. Everything in
// it is quoted from the repository: summaries from the README, a manifest or the code, whichever says most; notes
// from the first sentence of a page, a package comment or a docstring that says something by itself. Nothing is made
// up: where there is no such sentence a page shows its headings and a source what it declares, and else there is no
// note.
//
// What a file says decides, not the folder it is in: headings, prose and the shape of pages give the section;
// manifests' entry points, imports, and what the README names give the order. Names of folders break ties and mark
// what their tools leave out. The order is total and depends on the files alone.
//
// The work is bounded: the heads of a few hundred of the likeliest documents and sources are read, and only what is
// listed in the end is parsed.
package rank
