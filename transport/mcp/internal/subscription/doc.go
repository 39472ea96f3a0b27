// Package subscription notifies MCP clients of changes: sessions that used resources/subscribe, and from protocol
// version 2026-07-28 on, streams of subscriptions/listen.
package subscription
