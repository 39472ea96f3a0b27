// Package swift reads Swift.
package swift
