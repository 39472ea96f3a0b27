package site

// described are the frameworks whose configuration is data, and those that have none.
var described []reader
