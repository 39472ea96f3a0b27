// Package shown makes the texts of a repository fit to be shown to people and models: a [Line], the text of a file
// ([Files]), and what Markdown would act on in either. Secrets of known shape are redacted, nothing hides, and no
// character steers.
package shown
