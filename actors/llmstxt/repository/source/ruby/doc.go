// Package ruby reads Ruby.
package ruby
