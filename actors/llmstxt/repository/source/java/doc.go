// Package java reads Java.
package java
