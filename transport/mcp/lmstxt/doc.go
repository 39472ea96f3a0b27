// Package lmstxt serves the tools of an earlier llms.txt server, lmstxt-mcp, under their names, with their
// parameters, defaults and results, for clients that were made for it: over runs of the job generate,
// which is a tool of its own that does more.
//
// What is different from the earlier server is what was wrong with it: the artifact of a run that has not ended is an
// error and never a text, offsets and limits count characters, a run says how far it is and whether a model failed,
// no name leads out of the caller's folder, the URIs that are listed can be read, one id names a run everywhere, a
// repository's log can be read, and a run can be cancelled and ends in time.
package lmstxt
