// Package javascript reads JavaScript and TypeScript.
package javascript
