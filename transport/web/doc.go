// Package web serves the page: the browser's view of a server's runs. The page is a client of the HTTP API and of nothing
// else. Its source is below page; built holds what esbuild makes of it, which go generate writes and a test compares.
package web
