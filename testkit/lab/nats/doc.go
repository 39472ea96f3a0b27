// Package nats tests transport/nats with a server of NATS in this process.
package nats
