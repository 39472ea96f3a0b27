// Package secret finds secrets in sources by their form: tokens of some 100 services, private keys, credentials in
// URLs and headers, and passwords and keys by the name that they are assigned to. It takes linear time.
// [IsFile] and [InFile] tell files that are made to hold secrets.
package secret
