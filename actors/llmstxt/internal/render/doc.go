// Package render writes an index as llms.txt, llms-full.txt and llms-ctx.txt.
//
// [Txt] is valid by construction, whatever strings the index holds: one H1, a summary of one line, a details list,
// and sections with unique names of one word that is also an XML name. Sections contain only "- [title](url): note"
// lines. The index is data: control, bidirectional and invisible characters are removed, and Markdown is escaped.
//
// [Full] adds the text of the linked files between fences that the text cannot close. [Ctx] does the same as
// well-formed XML. [Sections] says the same as data. In all of them, secrets of known shape
// become "[redacted]". Equal indexes and files give equal bytes.
package render
