// Package web serves the web page on which people watch and start runs. The page uses only the HTTP API. Its source is
// below page. The folder built holds the output of esbuild; go generate writes it, and a test checks that it is
// current.
package web
