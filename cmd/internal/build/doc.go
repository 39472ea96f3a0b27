// Package build says from what the program was built.
//
// It answers "lastword version" itself, before the rest of the program is initialized. Other packages compile patterns
// and schemas during initialization, which takes three times as long as everything else that version does. Go
// initializes packages in the order of their import paths, each as soon as its imports are ready. This package imports
// only small packages of the standard library, which every program needs.
package build
