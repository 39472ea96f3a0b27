// Package webhook sends Standard Webhooks: a POST of JSON with the headers webhook-id, webhook-timestamp and
// webhook-signature, version v1 (https://www.standardwebhooks.com).
//
// A message goes to public addresses over https, unless its endpoint allows private ones: the address is checked when it
// is dialed. A redirect is not followed, and what the receiver writes is never shown.
package webhook
