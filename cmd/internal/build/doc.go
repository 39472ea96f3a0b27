// Package build says from what the program was built.
//
// It answers lastword version itself, before the rest of the program is initialised. Other packages compile patterns
// and schemas when they are initialised, which takes the program three times as long as all else that version does.
// Go initialises packages in the order of their import paths, each as soon as what it imports is ready: this one
// imports only the small packages of the standard library that every program needs.
package build
