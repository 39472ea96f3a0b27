// Package kotlin reads Kotlin.
package kotlin
