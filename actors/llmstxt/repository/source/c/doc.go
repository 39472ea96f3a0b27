// Package c reads C and C++.
package c
