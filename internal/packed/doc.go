// Package packed reads texts that the binary holds as gzip, because it must stay small. X.gz lies beside X, which people
// read and change; make update packs it, and zopfli makes it 3 % smaller.
package packed
