// Package csharp reads C#.
package csharp
