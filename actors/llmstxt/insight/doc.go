// Package insight is what a model is asked about a repository, and what is made of its answer.
//
// [Gather] chooses the material by rank, within a budget of bytes: the README, manifests, the public surface, the heads
// of the files that have no note and of those that matter most. [Material.Prompt] puts it between two lines that nobody
// can guess and says that it is data. An [Answer] is data likewise: [Answer.Clean] keeps single lines of bounded length,
// about what the material shows, without links, markup, commands and advice, and [Answer.Into] puts them into the index.
//
// Where things go: the purpose takes the place of a poor summary; concepts, section notes and what to remember become
// lines of the details list, for the llms.txt format allows no prose inside sections; notes go to links that have none.
// Each line of the details list begins with a word of ours, so that none passes for a fact of the repository.
package insight
