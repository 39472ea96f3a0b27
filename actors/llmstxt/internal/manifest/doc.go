// Package manifest parses package manifests: go.mod, package.json, Cargo.toml, pyproject.toml, pom.xml and similar
// files.
//
// [Parse] takes the path and the text of a file, and returns a [Manifest]: name, version, description, entry points,
// commands, scripts, direct dependencies, and members of a workspace. Files that are programs (setup.py,
// build.gradle, mix.exs, a gemspec) are only searched for literals. Nothing is executed, and a computed value stays
// empty. The table readers.txt says where each field is found.
//
// Manifests are untrusted: the text, every list and every value is bounded, and aliases and entities are never
// expanded. A file with a fault yields what can be read, together with an error.
package manifest
