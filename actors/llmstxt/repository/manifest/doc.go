// Package manifest reads what a package says of itself to its package manager:
// go.mod, package.json, Cargo.toml, pyproject.toml, pom.xml and their like.
//
// [Parse] takes one file's path and text and gives a [Manifest]: name, version, description, entry points, commands,
// scripts, direct dependencies and the members of a workspace. Files that are programs (setup.py, build.gradle,
// mix.exs, a gemspec) are read as text for the literals they hold; nothing is run, and a value that is computed is
// left empty. A table, readers.txt, says where each field stands.
//
// Manifests are untrusted: the text, every list and every value is bounded, aliases and entities are never expanded,
// and a file that is broken in one place gives what can be read of the rest together with an error.
package manifest
