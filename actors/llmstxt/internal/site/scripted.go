package site

// scripted are the frameworks whose configuration is a program.
var scripted []reader
