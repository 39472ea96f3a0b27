// Package subscription tells clients what changed: sessions of the protocols that have them by resources/subscribe,
// clients of 2026-07-28 on the stream of subscriptions/listen.
package subscription
