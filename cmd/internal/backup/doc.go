// Package backup writes the folders of a server into one file, and puts them back.
//
// The file is a tar in gzip: backup.json, then what lies in the state folder below state/, then the files of runs below
// files/. The checksum of gzip is its last part, so that a file that was cut or changed is known before anything is
// written.
package backup
