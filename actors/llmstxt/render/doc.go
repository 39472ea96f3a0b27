// Package render writes an index as llms.txt, llms-full.txt, llms-ctx.txt and llms.json.
//
// [Txt] is valid by construction, whatever strings the index holds: one H1, a summary of one line, a details list,
// sections with unique names of one word that are XML names too, and in them nothing but "- [title](url): note"
// lines. What the index says is data: control, bidirectional and invisible characters are removed and what Markdown
// would act on is escaped.
//
// [Full] adds the text of the linked files between fences that the text cannot close, [Ctx] the same as well-formed
// XML; [JSON] writes a [Document], which says more of each link. In all of them, secrets of known shape become
// "[redacted]". The same index and files give the same bytes.
package render
