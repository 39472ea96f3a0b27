// Package insight prepares what a model is asked about a repository, and puts its answer into the index.
//
// [Gather] chooses the material by rank, within a budget of bytes: the README, manifests, the public surface, and the
// heads of files without a note and of the most important files. [Material.Prompt] puts it between two unguessable
// lines, and says that it is data. An [Answer] is data too. [Answer.Clean] keeps single lines of bounded length about
// the shown material, without links, markup, commands and advice. [Answer.Into] puts them into the index.
//
// The purpose replaces a poor summary. Concepts, section notes and things to remember become lines of the details
// list, because the llms.txt format allows no prose inside sections. Notes go to links that have none. Each line of
// the details list begins with a word of ours, so that none looks like a fact about the repository.
package insight
