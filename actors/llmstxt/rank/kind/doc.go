// Package kind finds what repositories hold that are no libraries: the chapters of books, notebooks, charts, modules
// of Terraform, roles of Ansible, sites, clusters, and the parts of applications that nobody imports.
//
// A finder looks at names of files and at the heads of a few, and says which of them a reader of such a repository
// begins with, in which order, and which are nothing to a reader. [Find] runs them all: a repository may be of
// several kinds, or of none.
package kind
