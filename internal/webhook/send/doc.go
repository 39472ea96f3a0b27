// Package send sends messages to webhooks, as the specification Standard Webhooks says: a POST of JSON with the
// headers webhook-id, webhook-timestamp and webhook-signature, version v1 (https://www.standardwebhooks.com).
//
// Messages go only to public addresses over https, unless the endpoint allows private ones. The address is checked when
// it is dialed. Redirects are not followed, and the receiver's response body is never shown.
package send
