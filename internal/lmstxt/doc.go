// Package lmstxt serves the MCP tools of an earlier server, lmstxt-mcp, so that clients made for it keep working: with
// the same names, parameters, defaults and results. The tools use runs of the job generate, whose own tool does more.
//
// It corrects the earlier server's mistakes. The artifact of a run that has not ended is the text "Processing...", as it
// was, and a member status says so. Offsets and limits count characters. A run shows its progress, and whether a model failed. Names cannot lead out of
// the caller's folder. Listed URIs can be read. One id names a run everywhere. Logs of runs can be read. Runs can be
// cancelled, and end in bounded time.
package lmstxt
