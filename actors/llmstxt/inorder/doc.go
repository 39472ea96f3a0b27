// Package inorder has several workers make things ahead of whoever takes them in their order.
package inorder
