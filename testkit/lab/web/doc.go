// Package web builds transport/web's page with esbuild, and runs its code in Node beside the Go code that it must agree with.
package web
