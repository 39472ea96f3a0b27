// Package inorder computes things concurrently, and yields them in order.
package inorder
